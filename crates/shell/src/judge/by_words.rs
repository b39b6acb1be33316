//! Judges calls whose effects the rows of the table leave open, by words that mean the same for
//! most programs: a verb such as `delete`, a statement such as `DROP TABLE`, a grant such as
//! `allUsers`.

use super::options::{self, has_any, values};
use super::{Arg, ProgramCall, ShellFinding, destructive_rule, sql};
use crate::table::{holds, list};

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Verb {
    None,
    Removes,
    Destroys,
}

fn verb(word: &str) -> Verb {
    let listed = |text: &str| {
        let text = text.to_ascii_lowercase();
        match (holds("destroyverbs", &text), holds("removeverbs", &text)) {
            (true, _) => Verb::Destroys,
            (_, true) => Verb::Removes,
            _ => Verb::None,
        }
    };
    let whole = listed(word);
    // A word with `.`, `/`, `=`, `@` or a space is a path, a setting, an address or a sentence, in
    // which a verb proves nothing.
    if whole != Verb::None || word.contains(['.', '/', '=', ' ', '@']) {
        return whole;
    }
    // The verb may be a part of the word: `delete-index`, `cache:delete-all`, `DeleteInstance`,
    // `apiAccessDeleteKeys`.
    let mut parts = word.split(['-', ':', '_']);
    let first = parts.next().map_or(Verb::None, listed);
    let parts: Vec<Verb> = parts.map(listed).collect();
    // The verb may be the last part: `service-instance-delete`.
    let last = parts.last() == Some(&Verb::Destroys);
    let later = parts.into_iter().max().unwrap_or(Verb::None);
    match (last || has_camel_verb(word), word.contains(['-', ':', '_'])) {
        (true, _) => Verb::Destroys,
        (_, true) => first.max(if word.contains(':') { later } else { Verb::None }),
        _ => Verb::None,
    }
}

/// Returns true if a part of a name in camel case is a verb of deletion: `doDelete`,
/// `DeleteInstance`. `isDeleted` and the names of tests do not count.
fn has_camel_verb(word: &str) -> bool {
    !["test", "Test", "should"].iter().any(|begin| word.starts_with(begin))
        && list("destroyverbs").iter().any(|verb| {
            let (begin, rest) = verb.split_at(1);
            let part = format!("{}{rest}", begin.to_ascii_uppercase());
            word.match_indices(&part).any(|(at, _)| {
                let after = &word[at + part.len()..];
                !after.starts_with(|c: char| c.is_ascii_lowercase()) && word != part
            })
        })
}

/// Returns a finding if the program is asked to delete something: `X … delete NAME`, `X
/// delete-all`, `X NOUN rm NAME`. `known` means that the table has a row for the program.
pub(super) fn destroys(call: &ProgramCall, known: bool) -> Option<ShellFinding> {
    let runner = holds("runners", call.name);
    let words: Vec<&Arg> =
        call.args.iter().filter(|arg| !arg.looks_like_option()).take(5).collect();
    let dry = call.args.iter().any(|arg| {
        arg.is_any_of(&["--dry-run", "--dryrun", "--help", "-help", "--what-if", "--check"])
    });
    // Elsewhere, `-h` may be the option for a host.
    let dry = dry || call.args.last().is_some_and(|arg| arg.is_word("-h"));
    if runner || dry {
        return None;
    }
    let all = has_any(call.args, &["-a", "-A", "--all"]);
    let forced = has_any(call.args, &["-f", "--force", "-y", "--yes"]);
    // A light noun, such as `cache`, names something that can be made again.
    let light = words.get(1).is_some_and(|noun| holds("lightnouns", &noun.text));
    let keeps_data = call.name.split(['-', '_']).any(|part| holds("keepers", part));
    let joined = |text: &str| text.len() > 4 && text.contains(['-', ':', '_']);
    let mut found = None;
    for (at, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        // The words after a verb such as `create` or `list` are names.
        if holds("makers", text) {
            break;
        }
        let after_noun = at > 0 && !holds("lightnouns", &words[at - 1].text);
        found = match verb(text) {
            Verb::Destroys if at < 4 && (at == 0 || after_noun) => Some(text),
            Verb::Removes if at < 4 => {
                let removes = match (known, at) {
                    // An unknown program whose first word removes, such as `X remove index main`.
                    (false, 0) => {
                        words.len() > 1 && keeps_data || words.len() > 2 && !light || joined(text)
                    }
                    (true, 0) => false,
                    (false, _) => after_noun,
                    (true, _) => holds("keptnouns", &words[at - 1].text),
                };
                (removes || all || forced && !known).then_some(text)
            }
            _ => None,
        };
        if found.is_some() {
            break;
        }
    }
    let options = list("destroyoptions");
    let option = options.iter().find(|option| !known && has_any(call.args, &[option]));
    let named = glued_verb(call.name).filter(|_| !known && !words.is_empty());
    let word = found.or(option.copied()).or(named.as_deref())?;
    Some(destructive_rule("program.destroys", &format!("{} {word}", call.name)))
}

/// Returns true if a call of a program only looks at something, by words that mean the same for most
/// programs: `X status`, `X NOUN list`, `X --list`, and `X … --dry-run` if the table `knows` the
/// program.
///
/// | call                        |       |
/// | --------------------------- | ----- |
/// | `sl status`                 | true  |
/// | `gcloud logging read 'x'`   | true  |
/// | `just --list`               | true  |
/// | `just status`               | false, because `status` is the name of a recipe |
/// | `kvtool set list`           | false |
/// | `sl status --output x.txt`  | false |
pub(super) fn only_looks(call: &ProgramCall, known: bool) -> bool {
    let args = options::before_dashes(call.args);
    if holds("shellverbs", call.name) {
        return false;
    }
    let does = ["outputs", "inplace", "destroyoptions", "codeoptions"];
    if args.len() < call.args.len() || does.iter().any(|words| has_any(args, &list(words))) {
        return false;
    }
    let is_option = |arg: &Arg| holds("lookoptions", &arg.text);
    // The first words of a runner are names that anybody may choose.
    if holds("runners", call.name) {
        return args.first().is_some_and(is_option);
    }
    let mut words = args.iter().filter(|arg| !arg.looks_like_option()).map(|arg| arg.text.as_str());
    let is_look = |word: &str| holds("lookverbs", word);
    let is_name =
        |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:*".contains(c));
    let acts = |word: &str| !is_name(word) || holds("doverbs", word) || verb(word) != Verb::None;
    let (first, second) = (words.next(), words.next());
    if known && super::rules::is_trial(args) || first.is_some_and(is_look) {
        return true;
    }
    !first.is_some_and(acts) && (args.iter().any(is_option) || second.is_some_and(is_look))
}

/// Returns the verb of deletion with which the name of a program begins or ends: `ldapdelete`, `kvdel`,
/// `s3-rm`, `rmvol`. A verb that only looks like one does not count (`undelete`, `model`).
fn glued_verb(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    if list("noverbs").iter().any(|word| name.ends_with(word)) {
        return None;
    }
    let ends = |verb: &&str| name.strip_suffix(verb).is_some_and(|rest| !rest.ends_with("un"));
    let begins = |verb: &&str| {
        let noun = name.strip_prefix(verb).map(|noun| noun.trim_start_matches(['-', '_']));
        noun.is_some_and(|noun| {
            holds("keptnouns", noun) || holds("keptnouns", noun.trim_end_matches('s'))
        })
    };
    let (at_end, at_begin) = (list("endverbs"), list("beginverbs"));
    let verb = at_end.iter().find(|verb| ends(verb)).or(at_begin.iter().find(|verb| begins(verb)));
    verb.map(|verb| (*verb).to_owned())
}

/// Returns a finding if a call contains a statement that loses data: as the value of an option such
/// as `--execute`, in the query of an address, or in the input or arguments of a client such as
/// `redis-cli`.
pub(super) fn loses_data(call: &ProgramCall) -> Option<ShellFinding> {
    let mut texts: Vec<String> =
        values(call.args, &list("dataoptions")).into_iter().map(|code| code.text).collect();
    let client = call.name.ends_with("-cli") || ["nc", "ncat", "telnet"].contains(&call.name);
    texts.extend(call.stdin.text().filter(|_| client));
    texts.extend(call.args.iter().filter(|_| client).map(|arg| arg.text.clone()));
    texts.extend(call.args.iter().filter_map(|arg| {
        let (_, query) = arg.text.split_once("query=").or_else(|| arg.text.split_once("?q="))?;
        Some(query.replace("%20", " ").replace('+', " "))
    }));
    let nouns = list("sqlnouns");
    texts.iter().find_map(|text| {
        // A sentence such as "Drop support for …" begins like a statement. So the text must also
        // contain a phrase such as `DROP TABLE`.
        let upper = text.to_ascii_uppercase();
        let has_phrase = nouns.iter().any(|noun| upper.contains(noun));
        sql::statements(text).filter(|_| has_phrase)
    })
}

pub(super) fn widens(call: &ProgramCall) -> Option<ShellFinding> {
    let grants = list("grants");
    let is_grant = |part: &str| grants.contains(&part) || grants.contains(&base(part));
    let word = call.args.iter().find(|arg| arg.text.split(['=', ',']).any(is_grant))?;
    Some(destructive_rule("access.widened", &format!("{} {}", call.name, word.text)))
}

fn base(part: &str) -> &str {
    part.rsplit('/').next().unwrap_or(part)
}

/// Returns the argument by which a client of HTTP requests a deletion: a method such as
/// `-X DELETE`, or an address such as `HOST/users/delete`.
pub(super) fn requests_deletion(args: &[Arg]) -> Option<String> {
    let methods = ["-X", "--request", "--method", "-method"];
    let given = values(args, &methods);
    let method = given.iter().chain(args.iter().filter(|arg| !arg.looks_like_option()).take(1));
    let mut method = method.into_iter();
    if let Some(method) = method.find(|method| method.text.eq_ignore_ascii_case("delete")) {
        return Some(method.text.clone());
    }
    args.iter()
        .map(|arg| &arg.text)
        .find(|text| {
            let lower = text.to_ascii_lowercase();
            let address = lower.contains("://")
                || lower.starts_with("localhost")
                || lower.starts_with("127.");
            let path = lower.split(['?', '#']).next().unwrap_or_default();
            let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let verbs = list("destroyverbs");
            let mutation = lower.contains("mutation")
                && (lower.contains("remove") || verbs.iter().any(|verb| lower.contains(verb)));
            let called = text.rsplit(['/', '.']).next().unwrap_or_default();
            let called = called.split(['?', '#']).next().unwrap_or_default();
            let begins = |verb: &&str| {
                last.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            };
            let squeezed: String = lower.split_whitespace().collect();
            path.contains('/') && (has_camel_verb(called) || last.starts_with("_delete"))
                || lower.contains("method-override") && lower.contains("delete")
                || squeezed.contains("\"action\":\"delete\"")
                || address && verbs.iter().any(begins)
                || mutation
        })
        .cloned()
}
