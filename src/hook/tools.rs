//! The tools of all hosts, by name, with what each is for. `effects` reads their input.

use super::host::Host;
use ground::text::is_listed;
use shell::Dialect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// Changes no file: it searches, lists, asks or plans, or it starts tools that call the hook
    /// themselves.
    Nothing,
    Read,
    Write,
    Append,
    /// Replaces text in a file, and fails if the old text is not there exactly as given.
    EditStrictly,
    /// Replaces text in a file, and may search for the old text in a fuzzy way.
    Edit,
    Edits,
    Cell,
    Patch,
    /// Applies SEARCH/REPLACE blocks to a file.
    Blocks,
    /// Changes files in a way that only comparing the files afterwards can show.
    Touch,
    Delete,
    Move,
    Shell(Dialect),
    /// Runs a command that continues in the background.
    Watch,
    Type(Dialect),
    /// Calls a tool of an MCP server, which the input names.
    Foreign,
    Batch,
    /// Writes a task of the editor, and runs it.
    Task,
}

pub(crate) const PLATFORM: Dialect =
    if cfg!(windows) { Dialect::PowerShell } else { Dialect::Posix };

impl ToolKind {
    /// Returns true if the tool changes files and names each of them in a field.
    pub(crate) fn names_its_files(self) -> bool {
        use ToolKind::*;
        matches!(
            self,
            Write | Append | EditStrictly | Edit | Edits | Cell | Blocks | Touch | Delete | Move
        )
    }

    pub(crate) fn only_reads(self) -> bool {
        matches!(self, Self::Nothing | Self::Read)
    }
}

/// Tools whose name means something else to this host than to the others.
const OWN: &[(&str, &str, ToolKind)] = &[
    ("claude-code", "Edit", ToolKind::EditStrictly),
    ("claude-code", "MultiEdit", ToolKind::EditStrictly),
    // On Windows, codex's `Bash` is PowerShell.
    ("codex", "Bash", ToolKind::Shell(PLATFORM)),
    ("cursor", "Shell", ToolKind::Shell(PLATFORM)),
];

/// Tools whose name means the same to every host that has them. The names are separated by blanks.
const COMMON: &[(ToolKind, &str)] = &[
    (
        ToolKind::Nothing,
        "Glob glob Grep grep grep_search search_file_content file_search fileSearch find
         find_by_name codebase_search semantic_search codebase search_files list_files
         list_directory list_dir LS ls listDirectory list_code_definition_names WebFetch WebSearch
         webfetch websearch web_fetch web_search google_web_search fetch TodoWrite TodoRead
         todowrite todoread todo_write write_todos update_plan Task task Agent agent Skill skill
         AskUserQuestion question ExitPlanMode EnterPlanMode BashOutput KillShell KillBash
         TaskOutput TaskStop read_bash stop_bash read_powershell stop_powershell report_intent
         attempt_completion ask_followup_question plan_mode_respond new_task get_errors
         get_terminal_output list_code_usages test_search view_image think thinking LSP lsp
         ToolSearch ListMcpResourcesTool ReadMcpResourceTool access_mcp_resource
         read_mcp_resource list_mcp_resources list_mcp_resource_templates invoke_subagent read_lints
         command_status search_web read_url_content manage_todo_list introspect",
    ),
    // The field `command` of these tools is not a command line.
    (
        ToolKind::Nothing,
        "SlashCommand run_slash_command use_subagent subagent delegate todo todo_list knowledge memory session
         ask_user list_bash activate_skill complete_task",
    ),
    (
        ToolKind::Read,
        "Read read read_file ReadFile readFile read_many_files view view_file fs_read NotebookRead
         open_file read_code",
    ),
    (
        ToolKind::Write,
        "Write write write_file create_file Create create createFile write_to_file create_text_file
         create_new_file WriteFile",
    ),
    (ToolKind::Append, "fsAppend fs_append append_file append_to_file"),
    (
        ToolKind::Edit,
        "Edit MultiEdit edit strReplace multiedit StrReplace str_replace search_replace replace
         replace_string_in_file copilot_replaceString edit_file replace_file_content
         multi_replace_file_content editor str_replace_editor str_replace_based_edit_tool
         write_code insert",
    ),
    (ToolKind::Edits, "multi_replace_string_in_file fs_write fsWrite fsReplace"),
    (ToolKind::Cell, "NotebookEdit"),
    (ToolKind::Patch, "apply_patch ApplyPatch applypatch applyPatch patch"),
    (ToolKind::Blocks, "replace_in_file"),
    (
        ToolKind::Touch,
        "insert_edit_into_file copilot_insertEdit editFiles edit_files EditNotebook edit_notebook
         edit_notebook_file apply_diff insert_content search_and_replace",
    ),
    (ToolKind::Delete, "delete_file Delete DeleteFile remove_file deleteFile"),
    (ToolKind::Move, "move_file rename_file Move Rename"),
    (ToolKind::Shell(Dialect::Posix), "Bash bash execute_bash executeBash"),
    (ToolKind::Shell(Dialect::PowerShell), "PowerShell powershell pwsh executePwsh"),
    (ToolKind::Shell(Dialect::Cmd), "execute_cmd"),
    (
        ToolKind::Shell(PLATFORM),
        "Shell shell run_shell_command run_in_terminal runInTerminal run_terminal_cmd
         run_terminal_command execute_command run_command run_commands Execute exec shell_command
         local_shell",
    ),
    (ToolKind::Watch, "Monitor"),
    (ToolKind::Type(Dialect::Posix), "write_bash write_stdin write_to_shell write_to_process"),
    (ToolKind::Type(Dialect::PowerShell), "write_powershell"),
    (ToolKind::Batch, "batch"),
    (ToolKind::Task, "create_and_run_task"),
    (ToolKind::Foreign, "use_mcp_tool CallMcpTool call_mcp_tool"),
];

/// Returns what a tool of a host does, or `None` if it is in no table.
pub(crate) fn kind(host: &Host, tool: &str) -> Option<ToolKind> {
    let own = OWN.iter().find(|(of, name, _)| *of == host.name && *name == tool);
    if let Some((_, _, kind)) = own {
        return Some(*kind);
    }
    COMMON.iter().find(|(_, names)| is_listed(names, tool)).map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::host::{HOSTS, host_named};

    #[test]
    fn no_tool_is_listed_twice() {
        let names: Vec<&str> =
            COMMON.iter().flat_map(|(_, names)| names.split_whitespace()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for (host, _, _) in OWN {
            assert!(host_named(host).is_some(), "{host}");
        }
    }

    #[test]
    fn a_host_may_use_a_name_for_another_tool() {
        let of = |host: &str, tool: &str| kind(&host_named(host).expect("a host"), tool);
        assert_eq!(of("claude-code", "Edit"), Some(ToolKind::EditStrictly));
        assert_eq!(of("cursor", "Edit"), Some(ToolKind::Edit));
        assert!(HOSTS.iter().all(|host| kind(host, "no_such_tool").is_none()));
    }
}
