//! The three tables as lines of JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::findings::FindingRow;
use super::intents::IntentRow;
use super::range::{CarriedRecords, RowSink};

pub const TABLES: [&str; 3] = ["claims", "intents", "findings"];

pub struct JsonTables<W> {
    /// In the order of [`TABLES`].
    pub tables: [W; 3],
}

pub struct JsonStream<W>(pub W);

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

impl<W: Write> RowSink for JsonTables<W> {
    fn commit(&mut self, carried: &CarriedRecords<'_>) -> io::Result<()> {
        carried.rows.iter().try_for_each(|row| write_line(&mut self.tables[0], &row))
    }

    fn intent(&mut self, row: &IntentRow) -> io::Result<()> {
        write_line(&mut self.tables[1], row)
    }

    fn finding(&mut self, row: &FindingRow) -> io::Result<()> {
        write_line(&mut self.tables[2], row)
    }
}

impl<W: Write> JsonStream<W> {
    fn write(&mut self, table: usize, row: &impl Serialize) -> io::Result<()> {
        write_line(&mut self.0, &NamedRow { table: TABLES[table], row })
    }
}

impl<W: Write> RowSink for JsonStream<W> {
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
