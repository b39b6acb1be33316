// opencode calls `intent` before and after each tool. If a call cannot be judged,
// it does not run. Where the program is not installed, the plugin does nothing and says so once.
const HOST = "opencode"

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
