//! What a verdict rests on: where the record was made, what else stands in the block, how it was weighed.

use jiff::Timestamp;

use super::{VALUES, percent, step};
use crate::cli::print::{DIM, Page, STRONG};
use crate::provenance::{Rejection, Scores, Tier};
use crate::verbs::why::{BlockAnswer, RecordedBlock};

/// Where the record was made, where that is not here and under this name; and what else stands in the block.
pub(super) fn origins(page: &mut Page, path: &str, block: &BlockAnswer, now: Timestamp) {
    if let Some(recorded) = &block.recorded
        && (recorded.path.as_str() != path || recorded.name != block.qualified_name)
    {
        page.own("  ").own("was").to(VALUES);
        place(page, recorded);
        page.end();
    }
    for origin in &block.origins {
        page.own("  ").own("holds").to(VALUES).own(origin.relation.words()).own(" ");
        place(page, &origin.recorded);
        page.own("  ").text(&percent(origin.share)).own(" of it  ");
        step(page, &origin.record, now);
        page.end();
    }
}

/// The tier, the scores, and the best record that was not taken.
pub(super) fn weighed(page: &mut Page, block: &BlockAnswer, now: Timestamp) {
    if let Some(tier) = block.tier {
        page.own("  ").own("found by").to(VALUES).text(by(tier)).end();
    }
    let Some(weighed) = &block.weighed else { return };
    if let Some(scores) = &weighed.scores {
        page.own("  ").own("weighed").to(VALUES).text(&sum(scores)).end();
    }
    if let Some(rejected) = &weighed.rejected {
        page.own("  ").own("not taken").to(VALUES);
        place(page, &rejected.recorded);
        page.own("  ");
        step(page, &rejected.record, now);
        page.end();
        page.to(VALUES).text(because(rejected.why));
        if let Some(scores) = &rejected.scores {
            page.own(": ").text(&sum(scores));
        }
        page.end();
    }
}

fn place(page: &mut Page, recorded: &RecordedBlock) {
    page.text(&recorded.kind).own(" ").styled(STRONG, &recorded.name).own("  ");
    let lines = format!("{}:{}-{}", recorded.path, recorded.start_line, recorded.end_line);
    page.styled(DIM, &lines);
}

fn by(tier: Tier) -> &'static str {
    match tier {
        Tier::Text => "its name and the same text",
        Tier::Tokens => "its name and the same tokens",
        Tier::TextElsewhere => "the same text; the recorded name is gone from where it stood",
        Tier::TokensElsewhere => "the same tokens; the recorded name is gone from where it stood",
        Tier::Shape => "the same tokens but for names",
        Tier::Name => "its name; the tokens differ",
        Tier::Likeness => "likeness: body, name, container, parameters and neighbours together",
    }
}

fn because(why: Rejection) -> &'static str {
    match why {
        Rejection::TooUnlike => "too unlike",
        Rejection::Rivals => "another one fits about as well, or better",
        Rejection::StoodBefore => "the block reads as it did before that record",
    }
}

fn sum(scores: &Scores) -> String {
    format!(
        "{:.2} in all: body {:.2}, name {:.2}, container {:.2}, parameters {:.2}, neighbours {:.2}",
        scores.total, scores.body, scores.name, scores.scope, scores.signature, scores.position
    )
}
