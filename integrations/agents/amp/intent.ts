// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now
// Amp calls `intent` before and after each tool. If a call cannot be judged, it does
// not run. Where the program is not installed, calls run, and this is said once.
const HOST = "amp"

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
