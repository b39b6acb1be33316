//! JUnit XML. No single standard exists. This output is valid for the schema of Jenkins
//! (`junit-10.xsd`) and for the stricter one of Ant's tasks: it has every attribute that either of
//! them requires, and no element that either of them lacks.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::message_with_help;
use crate::cli::CliError;
use ground::{Level, text};
use judgement::check::CheckAnswer;
use why::findings::FindingAnswer;

/// Returns a test suite with one test case for each finding, or one case that passes if there are
/// no findings. A finding at the level `least` or above is a failure.
pub(super) fn report(answer: &CheckAnswer, least: Option<Level>) -> Result<String, CliError> {
    let failed = |finding: &FindingAnswer| least.is_some_and(|least| finding.level >= least);
    let (failing, telling): (Vec<_>, Vec<_>) =
        answer.findings.iter().partition(|finding| failed(finding));
    let tests = answer.findings.len().max(1).to_string();
    let failures = failing.len().to_string();
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let attributes = [
        ("id", "0"),
        ("package", "intent"),
        ("name", "intent check"),
        ("timestamp", &now()),
        ("hostname", "localhost"),
        ("tests", &tests),
        ("failures", &failures),
        ("errors", "0"),
        ("time", "0"),
    ];
    let written = (|| -> io::Result<()> {
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        writer.create_element("testsuites").write_inner_content(|writer| {
            let suite = writer.create_element("testsuite").with_attributes(attributes);
            suite.write_inner_content(|writer| {
                writer.create_element("properties").write_empty()?;
                for finding in &failing {
                    let text = clean(&message_with_help(finding));
                    let message = clean(&finding.message);
                    let about = [("type", finding.code.as_str()), ("message", message.as_str())];
                    case(writer, finding).write_inner_content(|writer| {
                        let failure = writer.create_element("failure").with_attributes(about);
                        failure.write_text_content(BytesText::new(&text)).map(drop)
                    })?;
                }
                for finding in &telling {
                    case(writer, finding).write_empty()?;
                }
                if answer.findings.is_empty() {
                    let case = writer.create_element("testcase");
                    let names = [("name", "no findings"), ("classname", "intent.check")];
                    case.with_attributes(names).with_attribute(("time", "0")).write_empty()?;
                }
                let told = telling.iter().map(|finding| line(finding));
                let out: Vec<String> = told.chain(answer.summary.notes.iter().cloned()).collect();
                let out = clean(&out.join("\n"));
                writer.create_element("system-out").write_text_content(BytesText::new(&out))?;
                writer.create_element("system-err").write_text_content(BytesText::new(""))?;
                Ok(())
            })?;
            Ok(())
        })?;
        Ok(())
    })();
    written.map_err(|error| CliError::io("the report", "written", error))?;
    let mut text = String::from_utf8_lossy(&writer.into_inner()).into_owned();
    text.push('\n');
    Ok(text)
}

type XmlElement<'w> = quick_xml::writer::ElementWriter<'w, Vec<u8>>;

fn case<'w>(writer: &'w mut Writer<Vec<u8>>, finding: &FindingAnswer) -> XmlElement<'w> {
    let name = clean(&place_of_finding(finding));
    let class = format!("intent.{}", finding.code);
    let case = writer.create_element("testcase");
    case.with_attributes([("name", name.as_str()), ("classname", &class), ("time", "0")])
}

fn place_of_finding(finding: &FindingAnswer) -> String {
    match (&finding.path, finding.start_line) {
        (Some(path), Some(line)) => format!("{path}:{line}"),
        (Some(path), None) => path.clone(),
        _ => "workspace".to_owned(),
    }
}

fn line(finding: &FindingAnswer) -> String {
    format!("{}: [{}] {}", place_of_finding(finding), finding.code, finding.message)
}

fn clean(text: &str) -> String {
    text::visible(text, true).replace(['\u{fffe}', '\u{ffff}'], "?")
}

/// Returns the time in UTC, without fractions and without a zone, as the schemas require.
fn now() -> String {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    now.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}
