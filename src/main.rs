//! The program under the name that people type: parses arguments and hands over to a face.

fn main() -> std::process::ExitCode {
    intent_lsp::main()
}
