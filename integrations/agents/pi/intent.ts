// pi calls `intent` before and after each tool. If a call cannot be judged, it does
// not run. Where the program is not installed, calls run, and this is said once.
const HOST = "pi"

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
