//! The `intent-lsp` binary under the name that people type.

fn main() -> std::process::ExitCode {
    intent_lsp::main()
}
