//! Measures the program on cases from real histories: `cargo run --release -p xtask -- classify CASES.jsonl`.
//!
//! - `classify`: is the class of a change what people say it is?
//! - `tracking`: is a block of one text found again in the next?
//!
//! A file of cases has lines of two types: `{"type":"file","blob","text"}`, then the cases. Each prints a table, which
//! compares the answers with the expected results; the answers never use those.

#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a program for a terminal")]

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::ExitCode;

use serde_json::Value;

mod classify;
mod tracking;

/// The texts of a file of cases, by blob.
type TextsByBlob = HashMap<String, String>;

fn main() -> ExitCode {
    match measured() {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn measured() -> Result<String, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [measurement, path] = &arguments[..] else {
        return Err("name a measurement, `classify` or `tracking`, and a file of cases".into());
    };
    let (texts, cases) = read_cases(path)?;
    match measurement.as_str() {
        "classify" => classify::measure(&texts, &cases),
        "tracking" => tracking::measure(&texts, &cases),
        _ => Err("there are the measurements `classify` and `tracking`".into()),
    }
}

fn read_cases(path: &str) -> Result<(TextsByBlob, Vec<Value>), Box<dyn Error>> {
    let (mut texts, mut cases) = (TextsByBlob::new(), Vec::new());
    for line in BufReader::new(File::open(path)?).lines() {
        let value: Value = serde_json::from_str(&line?)?;
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        match value["type"] == "file" {
            true => drop(texts.insert(text("blob"), text("text"))),
            false => cases.push(value),
        }
    }
    Ok((texts, cases))
}
