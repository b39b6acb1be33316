//! The three tables as lines of JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::findings::FindingRow;
use super::intents::IntentRow;
use super::range::{CarriedRecords, RowSink};

pub const TABLES: [&str; 3] = ["claims", "intents", "findings"];

/// Writes each table to its own writer, in the order of [`TABLES`]. To a single writer, it writes all
/// rows with the names of their tables.
pub struct JsonRows<W>(pub Vec<W>);

#[derive(Serialize)]
struct NamedRow<'a, T> {
    table: &'static str,
    #[serde(flatten)]
    row: &'a T,
}

pub(crate) fn write_line(writer: &mut impl Write, row: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *writer, row)?;
    writer.write_all(b"\n")
}

impl<W: Write> JsonRows<W> {
    fn write(&mut self, table: usize, row: &impl Serialize) -> io::Result<()> {
        match &mut self.0[..] {
            [stream] => write_line(stream, &NamedRow { table: TABLES[table], row }),
            tables => write_line(&mut tables[table], row),
        }
    }
}

impl<W: Write> RowSink for JsonRows<W> {
    fn commit(&mut self, carried: &CarriedRecords<'_>) -> io::Result<()> {
        carried.rows.iter().try_for_each(|row| self.write(0, &row))
    }

    fn intent(&mut self, row: &IntentRow) -> io::Result<()> {
        self.write(1, row)
    }

    fn finding(&mut self, row: &FindingRow) -> io::Result<()> {
        self.write(2, row)
    }
}
