// opencode calls `intent` before and after each tool. If a call cannot be judged,
// it does not run. Where the program is not installed, the plugin does nothing and says so once.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"

const PROGRAM = "intent-lsp"

// A folder that is gone fails with the same code as a program that is not installed.
const isNotInstalled = (error, folder) =>
  error.code === "ENOENT" && !/[\\/]/.test(PROGRAM) && existsSync(folder ?? ".")
let said = false
const sayOnce = () => {
  if (!said) console.error(`${PROGRAM} is not installed here, so nothing that agents write is checked or recorded`)
  said = true
}

const hook = (payload) =>
  new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`[HOOK_ERROR] The gate (${PROGRAM} hook) ${why}, so nothing goes ahead.`))
    const child = spawn(PROGRAM, ["hook", "opencode"], { cwd: payload.cwd })
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000)
    let out = ""
    let err = ""
    child.stdout.on("data", (data) => (out += data))
    child.stderr.on("data", (data) => (err += data))
    child.stdin.on("error", () => {})
    child.on("error", (error) => {
      clearTimeout(timer)
      if (!isNotInstalled(error, payload.cwd)) return fail(`could not be started: ${error.message}`)
      sayOnce()
      resolve({})
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code === 2 && err.trim()) return reject(new Error(err.trim()))
      if (code !== 0) return fail(`ended with ${code}`)
      try {
        resolve(out.trim() ? JSON.parse(out) : {})
      } catch {
        fail("gave no answer that can be read")
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })

export const Intent = async ({ directory }) => {
  const contexts = new Map()
  const send = (event, session, more) => hook({ hook_event_name: event, session_id: session, cwd: directory, ...more })
  const call = (i, args) => ({ tool_name: i.tool, tool_input: args, tool_use_id: i.callID })
  return {
    "tool.execute.before": async (i, o) => {
      const said = (await send("PreToolUse", i.sessionID, call(i, o.args))).hookSpecificOutput ?? {}
      if (said.permissionDecision) throw new Error(said.permissionDecisionReason)
    },
    "tool.execute.after": async (i, o) => {
      const exit = o?.metadata?.exit
      const ended = typeof exit === "number" ? { tool_response: { exit } } : {}
      const said = await send("PostToolUse", i.sessionID, { ...call(i, i.args), ...ended }).catch(() => ({}))
      const text = said.reason ?? said.hookSpecificOutput?.additionalContext
      if (text && Array.isArray(o.content)) o.content.push({ type: "text", text })
      else if (text) o.output = `${o.output ?? ""}\n\n${text}`
    },
    "chat.message": async (i, o) => {
      contexts.delete(i.sessionID)
      const chosen = o?.message?.model
      const model = chosen && `${chosen.providerID}/${chosen.modelID}`
      await send("UserPromptSubmit", i.sessionID, { model }).catch(() => {})
    },
    "experimental.chat.system.transform": async (i, o) => {
      if (!contexts.has(i.sessionID)) contexts.set(i.sessionID, await send("SessionStart", i.sessionID).catch(() => ({})))
      const text = contexts.get(i.sessionID).hookSpecificOutput?.additionalContext
      if (text) o.system.push(text)
    },
  }
}
