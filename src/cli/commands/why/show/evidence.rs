//! Prints the reasons for a verdict: where the record was made, which other records have a part in
//! the block, and what the block was compared with.

use jiff::Timestamp;

use super::{VALUES, field, percent, step};
use crate::cli::print::{Cell, DIM, GOOD, INTENT, PLAIN, Page, STRONG};
use provenance::matching::Likeness;
use provenance::{Rejection, Tier};
use why::answers::{BlockAnswer, ComparedAnswer, RecordedBlock};

/// Prints where the record was made, if the path or the name was a different one, and which other
/// records have a part in the block.
pub(super) fn origins(page: &mut Page, path: &str, block: &BlockAnswer, now: Timestamp) {
    if let Some(recorded) = &block.recorded
        && (recorded.path.as_str() != path || recorded.name != block.qualified_name)
    {
        print_place(field(page, "was"), recorded).end();
    }
    for origin in &block.origins {
        field(page, "holds").literal(origin.relation.as_words()).literal(" ");
        print_place(page, &origin.recorded).literal("  ");
        step(page.text(percent(origin.share)).literal(" of it  "), &origin.record, now).end();
    }
}

/// Prints how the record was found, which record was rejected and why, and every earlier block that
/// was compared with this one.
pub(super) fn explained(page: &mut Page, block: &BlockAnswer, now: Timestamp) {
    if let Some(tier) = block.tier {
        field(page, "found by").text(tier_words(tier)).end();
    }
    if let Some(refused) = &block.refused {
        print_place(field(page, "not taken"), &refused.recorded);
        step(page.literal("  "), &refused.record, now).end();
        page.pad_to(VALUES).text(rejection_words(refused.why)).end();
    }
    if !block.compared.is_empty() {
        page.literal("  ").line("compared with the earlier blocks");
        let titles = TITLES.iter().map(|word| Cell::new(DIM, *word)).collect();
        let rows = block.compared.iter().map(compared);
        page.table(4, std::iter::once(titles).chain(rows));
    }
}

/// The column titles of the table of comparisons.
const TITLES: [&str; 9] =
    ["block", "intent", "same", "body", "kept", "name", "container", "neighbours", "outcome"];

fn compared(earlier: &ComparedAnswer) -> Vec<Cell> {
    let name = [earlier.kind.as_deref(), earlier.name.as_deref()].map(Option::unwrap_or_default);
    let intent = earlier.record.as_ref().and_then(|record| record.intent.as_deref());
    let share = |share: Option<f32>| share.map_or("-".to_owned(), |share| format!("{share:.2}"));
    let of = |part: fn(&Likeness) -> Option<f32>| share(earlier.likeness.as_ref().and_then(part));
    let outcome = match (&earlier.rule, earlier.refused, &earlier.scores) {
        (Some(rule), ..) => format!("taken: {rule}"),
        (None, Some(Rejection::TooUnlike), Some(scores)) => {
            format!("too unlike: {:.2} in all", scores.total)
        }
        (None, why, _) => why.map(rejection_words).unwrap_or_default().to_owned(),
    };
    let style = if earlier.rule.is_some() { GOOD } else { PLAIN };
    vec![
        Cell::new(STRONG, name.join(" ").trim()),
        Cell::new(INTENT, intent.unwrap_or("-")),
        Cell::new(PLAIN, common_parts(earlier.likeness.as_ref())),
        Cell::new(PLAIN, of(|pair| pair.body)),
        Cell::new(PLAIN, of(|pair| pair.kept)),
        Cell::new(PLAIN, of(|pair| Some(pair.words))),
        Cell::new(PLAIN, of(|pair| Some(pair.container))),
        Cell::new(PLAIN, of(|pair| Some(pair.neighbours))),
        Cell::new(style, outcome),
    ]
}

/// Returns what two blocks have in common as a whole, such as `name, text`.
fn common_parts(likeness: Option<&Likeness>) -> String {
    let Some(pair) = likeness else { return "name, text, order".to_owned() };
    let text = [(pair.text, "text"), (pair.tokens, "tokens"), (pair.shape, "shape")];
    let name = [(pair.identity, "name"), (pair.leaf, "last name")];
    let first =
        |all: &[(bool, &'static str)]| all.iter().find(|(is, _)| *is).map(|(_, word)| *word);
    let words: Vec<&str> = [first(&name), first(&text)].into_iter().flatten().collect();
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

fn print_place<'p>(page: &'p mut Page, recorded: &RecordedBlock) -> &'p mut Page {
    page.text(&recorded.kind).literal(" ").styled(STRONG, &recorded.name).literal("  ");
    let lines = format!("{}:{}-{}", recorded.path, recorded.start_line, recorded.end_line);
    page.styled(DIM, lines)
}

fn tier_words(tier: Tier) -> &'static str {
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

fn rejection_words(why: Rejection) -> &'static str {
    match why {
        Rejection::TooUnlike => "too unlike",
        Rejection::Rivals => "another one fits about as well, or better",
        Rejection::StoodBefore => "the block reads as it did before that record",
    }
}
