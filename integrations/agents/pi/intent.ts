// pi calls `intent` before and after each tool. If a call cannot be judged, it does
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
    const child = spawn(PROGRAM, ["hook", "pi"], { cwd: payload.cwd })
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

const send = (event, ctx, more = {}) =>
  hook({ hook_event_name: event, session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd, ...more })
const call = (event) => ({ tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId })

export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    try {
      const said = (await send("PreToolUse", ctx, call(event))).hookSpecificOutput ?? {}
      if (said.permissionDecision) return { block: true, reason: said.permissionDecisionReason }
    } catch (error) {
      return { block: true, reason: error.message }
    }
  })
  pi.on("tool_result", async (event, ctx) => {
    const said = await send("PostToolUse", ctx, call(event)).catch(() => ({}))
    const text = said.reason ?? said.hookSpecificOutput?.additionalContext
    if (text) return { content: [...event.content, { type: "text", text }] }
  })
  pi.on("before_agent_start", async (event, ctx) => {
    await send("UserPromptSubmit", ctx).catch(() => {})
    const said = await send("SessionStart", ctx).catch(() => ({}))
    const text = said.hookSpecificOutput?.additionalContext
    if (text) return { systemPrompt: `${event.systemPrompt}\n\n${text}` }
  })
}
