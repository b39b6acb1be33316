//! The three tables as Parquet files, compressed with zstd. The rows of a row group are sorted, and
//! the same rows always give the same bytes.

use std::io::{self, Write};
use std::sync::Arc;

use jiff::Timestamp;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use serde::Serialize;

use super::claims::{ClaimRow, VERSION};
use super::findings::FindingRow;
use super::intents::IntentRow;
use super::range::{CarriedRecords, RowSink};

/// How many rows a row group has. They are kept in memory until it is written.
const ROWS_PER_GROUP: usize = 8_192;
/// More is slower to write, needs more memory and saves little.
const ZSTD_LEVEL: i32 = 6;

/// A column: its name, and how a row gives its value. All but flags and lists may have none.
enum TableColumn<R> {
    Text(&'static str, fn(&R) -> Option<String>),
    Number(&'static str, fn(&R) -> Option<u32>),
    Flag(&'static str, fn(&R) -> bool),
    /// A time as RFC 3339, which is stored as milliseconds since 1970.
    Time(&'static str, fn(&R) -> Option<&str>),
    Texts(&'static str, fn(&R) -> &[String]),
}

trait ParquetRow: Sized + 'static {
    const NAME: &'static str;

    fn columns() -> Vec<TableColumn<Self>>;

    /// What the rows of a row group are sorted by.
    fn key(&self) -> (&str, u32, &str);
}

impl ParquetRow for ClaimRow {
    const NAME: &'static str = "claims";

    fn columns() -> Vec<TableColumn<Self>> {
        use TableColumn::{Flag, Number, Text, Time};
        vec![
            Text("repo", |row| Some(row.repo.clone())),
            Text("commit", |row| Some(row.commit.clone())),
            Time("commit_time", |row| row.commit_time.as_deref()),
            Text("carried_by", |row| row.carried_by.clone()),
            Time("recorded_at", |row| Some(&row.recorded_at)),
            Text("record_id", |row| Some(row.record_id.clone())),
            Text("kind", |row| word(&row.kind)),
            Text("path", |row| Some(row.path.clone())),
            Text("from_path", |row| row.from_path.clone()),
            Text("block_kind", |row| row.block_kind.clone()),
            Text("block_name", |row| row.block_name.clone()),
            Number("block_ordinal", |row| row.block_ordinal),
            Number("start_line", |row| Some(row.start_line)),
            Number("end_line", |row| Some(row.end_line)),
            Number("lines_brought", |row| Some(row.lines_brought)),
            Number("lines_total", |row| Some(row.lines_total)),
            Text("content_hash", |row| row.content_hash.clone()),
            Flag("deleted", |row| row.deleted),
            Text("intent_id", |row| row.intent_id.clone()),
            Text("intent_hash", |row| row.intent_hash.clone()),
            Text("contributor_type", |row| word(&row.contributor_type)),
            Text("tool", |row| row.tool.clone()),
            Text("model", |row| row.model.clone()),
            Text("session", |row| row.session.clone()),
            Text("person", |row| row.person.clone()),
            Text("strength", |row| word(&row.strength)),
            Text("source", |row| Some(row.source.to_owned())),
            Text("outcome", |row| row.outcome.clone()),
            Text("approval", |row| row.approval.clone()),
        ]
    }

    fn key(&self) -> (&str, u32, &str) {
        (&self.path, self.start_line, &self.record_id)
    }
}

impl ParquetRow for IntentRow {
    const NAME: &'static str = "intents";

    fn columns() -> Vec<TableColumn<Self>> {
        use TableColumn::{Text, Texts};
        vec![
            Text("repo", |row| Some(row.repo.clone())),
            Text("intent_id", |row| Some(row.intent_id.clone())),
            Text("intent_hash", |row| Some(row.intent_hash.clone())),
            Text("name", |row| Some(row.name.clone())),
            Text("status", |row| word(&row.status)),
            Text("owner", |row| row.owner.clone()),
            Text("source", |row| Some(row.source.clone())),
            Text("source_path", |row| row.source_path.clone()),
            Texts("specs", |row| &row.specs),
            Texts("scope", |row| &row.scope),
            Text("valid_from", |row| Some(row.valid_from.clone())),
        ]
    }

    fn key(&self) -> (&str, u32, &str) {
        (&self.intent_id, 0, &self.valid_from)
    }
}

impl ParquetRow for FindingRow {
    const NAME: &'static str = "findings";

    fn columns() -> Vec<TableColumn<Self>> {
        use TableColumn::{Number, Text};
        vec![
            Text("repo", |row| Some(row.repo.clone())),
            Text("commit", |row| Some(row.commit.clone())),
            Text("code", |row| Some(row.code.clone())),
            Text("level", |row| word(&row.level)),
            Text("path", |row| row.path.clone()),
            Number("line", |row| row.line),
            Text("intent_id", |row| row.intent_id.clone()),
            Text("fingerprint", |row| Some(row.fingerprint.clone())),
        ]
    }

    fn key(&self) -> (&str, u32, &str) {
        (self.path.as_deref().unwrap_or_default(), self.line.unwrap_or_default(), &self.fingerprint)
    }
}

fn word(value: &impl Serialize) -> Option<String> {
    Some(serde_json::to_value(value).ok()?.as_str()?.to_owned())
}

pub struct ParquetTables<W: Write + Send> {
    claims: ParquetTable<ClaimRow, W>,
    intents: ParquetTable<IntentRow, W>,
    findings: ParquetTable<FindingRow, W>,
}

impl<W: Write + Send> ParquetTables<W> {
    /// Begins the files, in the order of [`super::jsonl::TABLES`].
    pub fn new([claims, intents, findings]: [W; 3]) -> io::Result<Self> {
        Ok(Self {
            claims: ParquetTable::new(claims)?,
            intents: ParquetTable::new(intents)?,
            findings: ParquetTable::new(findings)?,
        })
    }

    /// Ends the files. Without this call they cannot be read.
    pub fn finish(self) -> io::Result<()> {
        self.claims.finish()?;
        self.intents.finish()?;
        self.findings.finish()
    }
}

impl<W: Write + Send> RowSink for ParquetTables<W> {
    fn commit(&mut self, carried: &CarriedRecords<'_>) -> io::Result<()> {
        carried.rows.iter().try_for_each(|row| self.claims.push(row))
    }

    fn intent(&mut self, row: &IntentRow) -> io::Result<()> {
        self.intents.push(row.clone())
    }

    fn finding(&mut self, row: &FindingRow) -> io::Result<()> {
        self.findings.push(row.clone())
    }
}

struct ParquetTable<R, W: Write + Send> {
    columns: Vec<TableColumn<R>>,
    rows: Vec<R>,
    writer: SerializedFileWriter<W>,
}

impl<R: ParquetRow, W: Write + Send> ParquetTable<R, W> {
    fn new(writer: W) -> io::Result<Self> {
        let columns = R::columns();
        let fields: Vec<String> = columns.iter().map(TableColumn::schema).collect();
        let schema = format!("message {} {{ {} }}", R::NAME, fields.join(" "));
        let schema = Arc::new(parse_message_type(&schema).map_err(as_io_error)?);
        let version = KeyValue::new("schema_version".to_owned(), Some(VERSION.to_string()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(
                ZstdLevel::try_new(ZSTD_LEVEL).map_err(as_io_error)?,
            ))
            .set_created_by(format!("intent export {VERSION}"))
            .set_key_value_metadata(Some(vec![version]))
            .build();
        let writer =
            SerializedFileWriter::new(writer, schema, Arc::new(properties)).map_err(as_io_error)?;
        Ok(Self { columns, rows: Vec::new(), writer })
    }

    fn push(&mut self, row: R) -> io::Result<()> {
        self.rows.push(row);
        if self.rows.len() == ROWS_PER_GROUP { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_by(|one, other| one.key().cmp(&other.key()));
        let mut group = self.writer.next_row_group().map_err(as_io_error)?;
        for column in &self.columns {
            let Some(mut writer) = group.next_column().map_err(as_io_error)? else { break };
            column.write(&rows, &mut writer).map_err(as_io_error)?;
            writer.close().map_err(as_io_error)?;
        }
        group.close().map_err(as_io_error)?;
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        self.writer.close().map_err(as_io_error)?;
        Ok(())
    }
}

fn as_io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}

impl<R> TableColumn<R> {
    fn schema(&self) -> String {
        match self {
            Self::Text(name, _) => format!("optional binary {name} (STRING);"),
            Self::Number(name, _) => format!("optional int32 {name};"),
            Self::Flag(name, _) => format!("required boolean {name};"),
            Self::Time(name, _) => format!("optional int64 {name} (TIMESTAMP(MILLIS,true));"),
            Self::Texts(name, _) => format!(
                "required group {name} (LIST) {{ repeated group list {{ required binary element (STRING); }} }}"
            ),
        }
    }

    fn write(
        &self,
        rows: &[R],
        writer: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        match self {
            Self::Text(_, of) => {
                let values = rows.iter().map(|row| of(row).map(|text| ByteArray::from(&*text)));
                write_optional(writer.typed::<ByteArrayType>(), values)
            }
            Self::Number(_, of) => {
                let values = rows.iter().map(|row| of(row).and_then(|it| i32::try_from(it).ok()));
                write_optional(writer.typed::<Int32Type>(), values)
            }
            Self::Time(_, of) => {
                let values = rows.iter().map(|row| {
                    let time: Timestamp = of(row)?.parse().ok()?;
                    Some(time.as_millisecond())
                });
                write_optional(writer.typed::<Int64Type>(), values)
            }
            Self::Flag(_, of) => {
                let values: Vec<bool> = rows.iter().map(of).collect();
                writer.typed::<BoolType>().write_batch(&values, None, None).map(drop)
            }
            Self::Texts(_, of) => {
                let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
                for row in rows {
                    let texts = of(row);
                    if texts.is_empty() {
                        defined.push(0);
                        repeated.push(0);
                    }
                    for (nth, text) in texts.iter().enumerate() {
                        values.push(ByteArray::from(text.as_str()));
                        defined.push(1);
                        repeated.push(i16::from(nth > 0));
                    }
                }
                let writer = writer.typed::<ByteArrayType>();
                writer.write_batch(&values, Some(&defined), Some(&repeated)).map(drop)
            }
        }
    }
}

fn write_optional<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    column: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let (mut values, mut defined) = (Vec::new(), Vec::new());
    for value in column {
        defined.push(i16::from(value.is_some()));
        values.extend(value);
    }
    writer.write_batch(&values, Some(&defined), None).map(drop)
}
