use proptest::prelude::*;

use super::*;
use ledger::EntityType;
use overview::report::{BroughtInMonth, ReportSummary, ReportedIntent};

const EVIL: &str =
    "</script><img src=x onerror=alert(1)><!--\u{202e}\u{200b}\u{2028}&lt;{{data}}\u{0}";

fn answer(text: &str) -> ReportAnswer {
    ReportAnswer {
        generated: "2026-02-18T12:00:00.000Z".to_owned(),
        workspace: text.to_owned(),
        head: None,
        unread_registry: None,
        summary: ReportSummary::default(),
        intents: vec![ReportedIntent {
            id: text.to_owned(),
            name: Some(text.to_owned()),
            owned_scope: vec![text.to_owned()],
            ..ReportedIntent::default()
        }],
        brought: vec![BroughtInMonth {
            month: Some(text.to_owned()),
            intent: Some(text.to_owned()),
            contributor: EntityType::Ai,
            name: text.to_owned(),
            lines: 1,
        }],
        findings: Vec::new(),
        notes: vec![text.to_owned()],
    }
}

/// Returns the text between `open` and `close`. `open` must occur exactly once.
fn between<'a>(page: &'a str, open: &str, close: &str) -> &'a str {
    assert_eq!(page.matches(open).count(), 1, "{open}");
    let (_, rest) = page.split_once(open).expect("it was just counted");
    rest.split_once(close).expect("it is closed").0
}

fn held(page: &str) -> Value {
    let data = between(page, "<script type=\"application/json\" id=\"data\">", "</script>");
    serde_json::from_str(data).expect("JSON")
}

fn holds_only_data(text: &str) {
    let page = html(&answer(text)).expect("a page");
    assert_eq!(text::invisible_characters(&page), [], "{text:?}");
    assert_eq!(page.to_ascii_lowercase().matches("<script").count(), 2, "{text:?}");
    assert_eq!(page.to_ascii_lowercase().matches("</script").count(), 2, "{text:?}");
    let data = held(&page);
    let shown = disarmed(text);
    assert_eq!(data["notes"][0], shown.as_str());
    assert_eq!(data["intents"][0]["owned_scope"][0], shown.as_str());
    assert_eq!(data["brought"][0]["name"], shown.as_str());
    let title = between(&page, "<title>Intent report: ", "</title>");
    assert!(!title.contains(['<', '>', '"']), "{title:?}");
}

#[test]
fn texts_of_others_become_only_data_in_the_page() {
    for text in [
        EVIL,
        "<!--<script>",
        "]]>",
        "javascript:alert(1)",
        "red;background:url(x)",
        "{{script}}",
        "",
    ] {
        holds_only_data(text);
    }
}

#[test]
fn a_very_long_name_is_shortened_in_the_page() {
    let long = "x".repeat(64 * 1024);
    let page = html(&answer(&long)).expect("a page");
    let name = held(&page)["intents"][0]["name"].as_str().expect("a name").to_owned();
    assert_eq!(name.chars().count(), MAX_TEXT);
    assert!(name.ends_with('…') && long.starts_with(name.trim_end_matches('…')));
    assert!(!page.contains(&"x".repeat(MAX_TEXT)));
}

#[test]
fn the_content_policy_allows_one_style_and_one_script() {
    let page = html(&answer("shop")).expect("a page");
    let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    for (kind, element) in [("style", "style"), ("script", "script")] {
        let inside = between(&page, &format!("<{element}>"), &format!("</{element}>"));
        let hash = STANDARD.encode(Sha256::digest(inside.as_bytes()));
        assert!(policy.contains(&format!("{kind}-src 'sha256-{hash}'")), "{kind} in {policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"));
}

/// Our own files must load nothing, and the script must have no way to turn text into markup.
#[test]
fn our_own_files_load_nothing_and_write_no_markup() {
    for (name, text) in [("page.html", PAGE), ("page.css", STYLE)] {
        for word in
            ["http:", "https:", "url(", "@import", "src=", " style=", "<img", "<iframe", " onclick"]
        {
            assert!(!text.contains(word), "{name} holds {word:?}");
        }
    }
    let script = SCRIPT;
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "Function(",
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "WebSocket",
        "cssText",
        "srcdoc",
        "DOMParser",
        "localStorage",
        "javascript:",
    ] {
        assert!(!script.contains(word), "the script holds {word:?}");
    }
    assert!(!script.to_ascii_lowercase().contains("</script") && !STYLE.contains("</"));
    // Every link must lead to a place on the page itself.
    assert_eq!(
        script.matches("href").count(),
        script.matches("href: `#${kind}=${encodeURIComponent(value)}`").count()
            + script.matches("href: \"#\" }").count()
    );
}

proptest! {
    #[test]
    fn any_text_becomes_only_data_in_the_page(text in "[<>&/!\"'`{}\\\\a-z\\-\u{2028}\u{202e} ]{0,24}|.{0,16}|(</?script[ />]?|<!--|-->|\\{\\{data\\}\\}){0,4}") {
        holds_only_data(&text);
    }
}
