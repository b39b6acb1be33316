//! Writes the lists of a context into a limited room. Of a list that is too long, it writes as many
//! entries as fit, and says how many are left out.

use std::collections::BTreeMap;

use ground::text;

pub(super) struct ContextList {
    pub(super) name: &'static str,
    pub(super) elements: Vec<String>,
    /// True if the last entries matter most, so the first ones are left out.
    pub(super) newest_last: bool,
}

pub(super) struct LaidOut {
    pub(super) text: String,
    pub(super) omitted: BTreeMap<&'static str, usize>,
}

/// Writes the lists that bind the work and those that only help. If they are longer than `room`, a
/// third of it is kept for those that help. `shown_by` is the command that shows the rest.
pub(super) fn laid_out(lists: &[Vec<ContextList>; 2], room: usize, shown_by: &str) -> LaidOut {
    let [binding, helping] = lists;
    let needs = |lists: &[ContextList]| lists.iter().map(ContextList::length).collect::<Vec<_>>();
    let (needs_of_binding, needs_of_helping) = (needs(binding), needs(helping));
    let kept = needs_of_helping.iter().sum::<usize>().min(room / 3);
    let mut shares = shares(&needs_of_binding, room - kept);
    let left = room - shares.iter().sum::<usize>();
    shares.extend(self::shares(&needs_of_helping, left));
    let mut laid_out = LaidOut { text: String::new(), omitted: BTreeMap::new() };
    for (list, share) in binding.iter().chain(helping).zip(shares) {
        let shown = list.shown_in(share, shown_by);
        laid_out.text.push_str(&list.with_entries(shown, shown_by));
        if shown < list.elements.len() {
            laid_out.omitted.insert(list.name, list.elements.len() - shown);
        }
    }
    laid_out
}

/// Divides a room: nobody gets more than they need, and those who need more than there is get equally
/// much. Of 100, those who need 10, 80 and 90 get 10, 45 and 45.
fn shares(needs: &[usize], room: usize) -> Vec<usize> {
    let mut modest_first: Vec<usize> = (0..needs.len()).collect();
    modest_first.sort_by_key(|at| needs[*at]);
    let mut shares = vec![0; needs.len()];
    let mut left = room;
    for (served, at) in modest_first.into_iter().enumerate() {
        shares[at] = needs[at].min(left / (needs.len() - served));
        left -= shares[at];
    }
    shares
}

impl ContextList {
    pub(super) fn length(&self) -> usize {
        self.with_entries(self.elements.len(), "").chars().count()
    }

    fn shown_in(&self, room: usize, shown_by: &str) -> usize {
        if self.length() <= room {
            return self.elements.len();
        }
        let mut left = room.saturating_sub(self.with_entries(0, shown_by).chars().count());
        let in_order_of_weight: Vec<&String> = match self.newest_last {
            true => self.elements.iter().rev().collect(),
            false => self.elements.iter().collect(),
        };
        let fits = |element: &&&String| {
            let rest = left.checked_sub(line(element).chars().count());
            left = rest.unwrap_or_default();
            rest.is_some()
        };
        in_order_of_weight.iter().take_while(fits).count()
    }

    fn with_entries(&self, shown: usize, shown_by: &str) -> String {
        let count = self.elements.len() - shown;
        if self.elements.is_empty() {
            return String::new();
        }
        let omitted =
            line(&format!("<omitted count=\"{count}\" shown_by=\"{}\"/>", text::xml(shown_by)));
        let entries = match self.newest_last {
            true => &self.elements[count..],
            false => &self.elements[..shown],
        };
        let entries: String = entries.iter().map(|element| line(element)).collect();
        let inside = match (count, self.newest_last) {
            (0, _) => entries,
            (_, true) => omitted + &entries,
            (_, false) => entries + &omitted,
        };
        format!("  <{name}>\n{inside}  </{name}>\n", name = self.name)
    }
}

fn line(element: &str) -> String {
    format!("    {element}\n")
}

pub(super) fn element(name: &str, value: &str, longest: usize) -> String {
    format!("<{name}>{}</{name}>", escaped(value, longest))
}

/// Escapes a text for XML, and cuts it so that the result has at most `longest` characters.
pub(super) fn escaped(value: &str, longest: usize) -> String {
    let escape = |text: &str| text::xml(&text::visible(text, false));
    let mut cut = text::shorten(value, longest);
    loop {
        let escaped = escape(&cut);
        let length = escaped.chars().count();
        if length <= longest {
            return escaped;
        }
        // Escaping made it longer, so less of it is taken. This ends, because it gets shorter.
        let kept = cut.chars().count() * longest / length;
        cut = text::shorten(&cut, kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(name: &'static str, count: usize, length: usize) -> ContextList {
        let elements = (0..count).map(|at| format!("<a>{at:0length$}</a>")).collect();
        ContextList { name, elements, newest_last: name == "newest" }
    }

    #[test]
    fn nobody_gets_more_than_they_need() {
        assert_eq!(shares(&[10, 80, 90], 100), [10, 45, 45]);
        assert_eq!(shares(&[90, 10, 0], 100), [90, 10, 0]);
        assert_eq!(shares(&[], 100), Vec::<usize>::new());
    }

    #[test]
    fn lists_that_are_too_long_are_cut_and_say_so() {
        let lists =
            [vec![list("scope", 400, 20), list("short", 2, 4)], vec![list("newest", 90, 9)]];
        let laid_out = laid_out(&lists, 1_000, "more");
        assert!(laid_out.text.chars().count() <= 1_000, "{}", laid_out.text);
        let omitted = |name| laid_out.omitted[name];
        assert!(
            laid_out.text.contains("<a>0001</a>") && laid_out.text.contains("<a>000000089</a>")
        );
        for name in ["scope", "newest"] {
            let said = format!("<omitted count=\"{}\" shown_by=\"more\"/>", omitted(name));
            assert!(laid_out.text.contains(&said), "{name}: {}", laid_out.text);
        }
        assert_eq!(laid_out.omitted.len(), 2);
    }

    #[test]
    fn escaped_text_is_short() {
        assert_eq!(escaped("a & b", 9), "a &amp; b");
        for text in ["&".repeat(50), "\u{202e}".repeat(9), "é\"<".repeat(20), "x".repeat(30)] {
            let short = escaped(&text, 12);
            assert!(short.chars().count() <= 12 && !short.is_empty(), "{short}");
        }
    }
}
