//! The same program under the name that hooks and settings of agents use.

fn main() -> std::process::ExitCode {
    intent_lsp::main()
}
