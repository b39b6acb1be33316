//! Measures the program on cases from real histories: `cargo run --release -p xtask -- classify CASES.jsonl --score`.
//!
//! - `classify`: is the class of a change what people say it is?
//! - `tracking`: is a recorded block found again?

#![allow(clippy::print_stderr, reason = "a program for a terminal")]

use std::process::ExitCode;

mod classify;
mod tracking;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let measurement = if arguments.is_empty() { String::new() } else { arguments.remove(0) };
    let result = match measurement.as_str() {
        "classify" => classify::measure(&arguments),
        "tracking" => tracking::measure(arguments),
        _ => Err("name a measurement: `classify` or `tracking`, and a file of cases".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
