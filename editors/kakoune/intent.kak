# Why is this code here?  For kakoune-lsp 18 and later.
# In kakrc, source this after `eval %sh{kak-lsp}`, which sets up the servers of each language, and before `lsp-enable`.

declare-option -docstring "The program: a name to look for on PATH, or an absolute path" str intent_program intent

# It runs beside the other servers of a file. In a git repository without .orchestration/, hovers answer from git, and nothing is reported.
hook -group lsp-intent global User LSPDefaultConfig=.* %{
    set-option -add buffer lsp_servers "
        [intent]
        command = '%opt{intent_program}'
        args = ['lsp']
        root_globs = ['.orchestration']
        settings_section = 'intent'
        [intent.settings.intent]
        interactive = true
        inlayHints = true
    "
}

define-command intent-select -params 1 -docstring "intent-select ID: work under an intent" %{
    lsp-execute-command intent.select "[{""uri"": ""file://%val{buffile}"", ""id"": ""%arg{1}""}]" intent
} -shell-script-candidates %{
    intent list 2>/dev/null | grep -oE '^[^[:alnum:]]*[A-Z][A-Za-z0-9]*-[0-9]+' | tr -dc 'A-Za-z0-9\n-'
}

define-command intent-record -docstring "Record what changed in this file under the selected intent" %{
    write
    lsp-execute-command intent.record "[{""paths"": [""%val{buffile}""], ""uri"": ""file://%val{buffile}""}]" intent
}

define-command intent-review -docstring "Put the questions of agents that wait again" %{
    lsp-execute-command intent.review "[{}]" intent
}
