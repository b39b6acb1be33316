// Tests the plugins of `integrations/agents/` with the real binary. Each gets a host that has only the few functions which it uses:
// `node tests/shims.mjs target/debug/intent`.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const binary = resolve(process.argv[2] ?? "target/debug/intent")
const agents = fileURLToPath(new URL("../integrations/agents", import.meta.url))
const lab = mkdtempSync(join(tmpdir(), "shims-"))
const repo = join(lab, "repo")
mkdirSync(join(repo, ".orchestration"), { recursive: true })
mkdirSync(join(lab, "bin"))
for (const name of ["intent", "intent-lsp"]) symlinkSync(binary, join(lab, "bin", name))
writeFileSync(
  join(repo, ".orchestration", "active_intents.yaml"),
  'active_intents:\n  - id: INT-001\n    name: Sign in\n    status: IN_PROGRESS\n    owned_scope: ["src/**"]\n',
)
const plugin = (name) => {
  const [host] = name.split("/")
  writeFileSync(join(lab, `${host}.mjs`), readFileSync(join(agents, name), "utf8") + readFileSync(join(agents, "hook.js"), "utf8"))
  return import(join(lab, `${host}.mjs`))
}

const args = { path: "src/a.py", filePath: join(repo, "src/a.py"), content: "x = 1\n" }
const told = { output: "done", content: [] }

/** What a host would do: `before` answers why a call is blocked, or nothing. */
const hosts = {
  async opencode() {
    const { Intent } = await plugin("opencode/intent.js")
    const hooks = await Intent({ directory: repo })
    const call = (tool) => ({ tool, sessionID: "s", callID: tool })
    return {
      before: (tool) => hooks["tool.execute.before"](call(tool), { args }).then(() => undefined, (error) => error.message),
      after: async () => {
        const output = { output: "done" }
        await hooks["tool.execute.after"]({ ...call("write"), args }, output)
        return output.output
      },
      start: async () => {
        const system = []
        await hooks["chat.message"]({ sessionID: "s" })
        await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, { system })
        return system.join()
      },
    }
  },
  async pi() {
    const on = {}
    ;(await plugin("pi/intent.ts")).default({ on: (name, handler) => (on[name] = handler) })
    const context = { cwd: repo, sessionManager: { getSessionId: () => "s" } }
    const call = (tool) => ({ toolName: tool, toolCallId: tool, input: args, content: told.content })
    return {
      before: async (tool) => (await on.tool_call(call(tool), context))?.reason,
      after: async () => (await on.tool_result(call("write"), context))?.content[0].text,
      start: async () => (await on.before_agent_start({ systemPrompt: "" }, context))?.systemPrompt,
    }
  },
  async amp() {
    const on = {}
    ;(await plugin("amp/intent.ts")).default({ on: (name, handler) => (on[name] = handler) })
    let logged
    const context = { logger: { log: (text) => (logged = text) } }
    const call = (tool) => ({ tool, toolUseID: tool, input: args, thread: { id: "s" } })
    return {
      before: async (tool) => {
        const said = await on["tool.call"](call(tool === "write" ? "create_file" : tool), context)
        assert.ok(["allow", "reject-and-continue"].includes(said.action))
        return said.action === "allow" ? undefined : said.message
      },
      after: async () => (await on["tool.result"](call("create_file"), context), logged),
      start: async () => on["agent.start"]({ thread: { id: "s" } }, context),
    }
  },
}

const path = process.env.PATH
process.chdir(repo)
for (const [name, make] of Object.entries(hosts)) {
  const host = await make()
  process.env.PATH = join(lab, "bin") + delimiter + path
  assert.match(await host.before("write"), /^\[INTENT_REQUIRED\]/, name)
  assert.equal(await host.before("read"), undefined, name)
  assert.match(await host.after(), /without an intent/, name)
  const context = await host.start()
  if (name !== "amp") assert.match(context, /INT-001/, name)
  // The program is not installed: nothing is denied, nothing fails, and one line says so.
  process.env.PATH = join(lab, "nothing")
  const said = []
  const print = console.error
  console.error = (line) => said.push(line)
  assert.equal(await host.before("write"), undefined, name)
  await host.after()
  await host.start()
  console.error = print
  assert.match(said.join("\n"), /^intent-lsp is not installed here, .*recorded$/, name)
  // Another program has its name, and fails.
  mkdirSync(join(lab, name))
  writeFileSync(join(lab, name, "intent-lsp"), "#!/bin/sh\nexit 1\n", { mode: 0o755 })
  process.env.PATH = join(lab, name) + delimiter + path
  assert.match(await host.before("write"), /^\[HOOK_ERROR\].*ended with 1/, name)
  console.log(`${name}: as it should be`)
}
rmSync(lab, { recursive: true })
