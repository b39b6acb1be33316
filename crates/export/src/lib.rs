//! What was committed, as data for other programs: rows of three tables, and files in formats that
//! other programs read.
//!
//! The rows of a range of commits are a function of that range and of the version of the tables. No
//! clock, no file of the work tree and no setting of the machine has a part in them, so two machines
//! write the same bytes, and a file that was written never changes.
//!
//! - [`agent_trace`]: the records in the Agent Trace format.
//! - [`attestation`]: what a range is attested to hold, as a statement of in-toto.
//! - [`claims`]: the table of what was recorded, a row for each block.
//! - [`evidence`]: the records that a commit carries.
//! - [`findings`]: the table of what *check* finds in the range.
//! - [`intents`]: the table of the versions of intents.
//! - [`jsonl`]: the three tables as lines of JSON.
//! - [`otlp`]: the claims as log records of OpenTelemetry.
//! - `parquet`: the three tables as Parquet files, with the feature of that name.
//! - [`people`]: what the rows say of people.
//! - [`range`]: the commits of a range, and all of their rows.
//! - [`traced`]: a record as `intent trace --json` prints it.

pub mod agent_trace;
pub mod attestation;
pub mod claims;
pub mod evidence;
pub mod findings;
pub mod intents;
pub mod jsonl;
pub mod otlp;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod people;
pub mod range;
pub mod traced;
