//! Measures the program on cases from real histories: `cargo run --release -p xtask -- classify CASES.jsonl --score`.
//!
//! - `classify`: is the class of a change what people say it is?
//! - `origins`: which commit brought each line of a file?
//! - `sources`: which intents are kept in other formats?
//! - `tracking`: is a block of one text found again in the next?

#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a program for a terminal")]

use std::process::ExitCode;

mod classify;
mod origins;
mod sources;
mod tracking;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let measurement = if arguments.is_empty() { String::new() } else { arguments.remove(0) };
    let result = match measurement.as_str() {
        "classify" => classify::measure(&arguments),
        "origins" => origins::print(&arguments),
        "sources" => sources::print(&arguments),
        "tracking" => tracking::measure(&arguments),
        _ => {
            Err("name a measurement: `classify`, `origins`, `sources` or `tracking`, and what it measures"
                .into())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
