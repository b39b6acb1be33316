//! What a file is after a tool call, as far as that can be foreseen.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    Text(String),
    /// The text cannot be known, for this reason. Read the file afterwards.
    Unknown(String),
    /// The tool would refuse the change, for this reason, and leave the file as it is.
    Fails(String),
}
