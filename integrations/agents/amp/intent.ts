// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now
// Amp calls `intent` before and after each tool. If a call cannot be judged, it does
// not run. Where the program is not installed, calls run, and this is said once.
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
    const child = spawn(PROGRAM, ["hook", "amp"], { cwd: payload.cwd })
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

const send = (name, event, ctx, more = {}) => {
  const session = event.thread?.id ?? ctx?.thread?.id
  return hook({ hook_event_name: name, session_id: session, cwd: process.cwd(), ...more })
}
const call = (event) => ({ tool_name: event.tool, tool_input: event.input, tool_use_id: event.toolUseID })

export default function (amp) {
  amp.on("tool.call", async (event, ctx) => {
    try {
      const said = (await send("PreToolUse", event, ctx, call(event))).hookSpecificOutput ?? {}
      if (said.permissionDecision) return { action: "reject-and-continue", message: said.permissionDecisionReason }
      return { action: "allow" }
    } catch (error) {
      return { action: "reject-and-continue", message: error.message }
    }
  })
  amp.on("tool.result", async (event, ctx) => {
    const said = await send("PostToolUse", event, ctx, call(event)).catch(() => ({}))
    if (said.reason) ctx?.logger?.log(said.reason)
  })
  amp.on("agent.start", async (event, ctx) => {
    await send("UserPromptSubmit", event, ctx).catch(() => {})
  })
}
