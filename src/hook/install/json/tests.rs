use proptest::prelude::*;
use serde_json::json;

use super::*;

fn parts() -> Vec<JsonPart> {
    let hook = |name: &str| json!({ "matcher": "*", "hooks": [{ "type": "command", "command": format!("intent hook {name}") }] });
    vec![
        JsonPart::Base { name: "version", value: json!(1) },
        JsonPart::Lists {
            within: &["hooks"],
            lists: vec![("Pre", vec![hook("a")]), ("Post", vec![hook("b")])],
        },
        JsonPart::Member {
            within: &["servers"],
            name: "intent",
            value: json!({ "command": "intent", "args": ["mcp"] }),
        },
    ]
}

const FOREIGN: &str = r#"{
  // what the team agreed on
  "model": "m", /* for now */
  "hooks": {
    "Pre": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./lint.sh" }] },
    ],
    "Stop": [],
  },
}
"#;

#[test]
fn entries_of_others_are_kept() {
    let once = with_entries(FOREIGN, &parts()).unwrap();
    insta::assert_snapshot!(once);
    assert_eq!(with_entries(&once, &parts()).unwrap(), once);
    assert_eq!(take(&once, &parts()).unwrap().map(|text| data(&text).unwrap()), {
        let mut left = data(FOREIGN).unwrap();
        left["version"] = json!(1);
        Some(left)
    });
}

#[test]
fn a_file_with_only_our_entries_is_removed() {
    let made = with_entries("{}\n", &parts()).unwrap();
    insta::assert_snapshot!(made);
    assert_eq!(take(&made, &parts()).unwrap(), None);
}

#[test]
fn our_older_entries_are_replaced_and_other_hooks_are_kept() {
    let before = r#"{"hooks": {"Old": [{"command": "/x/intent hook a"}],
      "Pre": [{"matcher": "Edit", "hooks": [{"command": "/x/intent hook a"}, {"command": "other"}]}]}}"#;
    let now = data(&with_entries(before, &parts()).unwrap()).unwrap();
    assert_eq!(now["hooks"].get("Old"), None);
    let pre = now["hooks"]["Pre"].as_array().unwrap();
    assert_eq!(pre.len(), 2);
    assert_eq!(pre[0], json!({"matcher": "Edit", "hooks": [{"command": "other"}]}));
    let left =
        data(&take(&with_entries(before, &parts()).unwrap(), &parts()).unwrap().unwrap()).unwrap();
    assert_eq!(left["hooks"]["Pre"], json!([{"matcher": "Edit", "hooks": [{"command": "other"}]}]));
}

#[test]
fn a_file_with_an_unknown_form_is_refused() {
    for (text, expected) in [
        ("{", "Syntax"),
        ("{'a': 1}", "Syntax"),
        ("{\"a\": 1 \"b\": 2}", "Syntax"),
        ("[]", "NoObject"),
        ("3", "NoObject"),
        ("{\"hooks\": []}", "Shape"),
        ("{\"hooks\": {\"Pre\": {}}}", "Shape"),
        ("{\"servers\": {\"intent\": {\"command\": \"other\"}}}", "Taken"),
    ] {
        let refused = with_entries(text, &parts()).unwrap_err();
        assert!(format!("{refused:?}").starts_with(expected), "{text}: {refused:?}");
    }
}

#[test]
fn an_optional_entry_does_not_replace_a_decision() {
    let offer = [JsonPart::Offer {
        within: &["lsp"],
        name: "intent",
        value: json!({ "command": ["intent", "lsp"] }),
    }];
    let off = "{ \"lsp\": false }\n";
    assert_eq!(with_entries(off, &offer).unwrap(), off);
    assert_eq!(take(off, &offer).unwrap().as_deref(), Some(off));
    assert!(with_entries("{}", &offer).unwrap().contains("\"lsp\""));
}

fn foreign() -> impl Strategy<Value = Value> {
    let hook = "[a-z]{1,6}"
        .prop_map(|name| json!({ "matcher": name, "hooks": [{ "command": format!("./{name}") }] }));
    let list = prop::collection::vec(hook, 1..3).prop_map(Value::from);
    let lists =
        prop::collection::hash_map(prop::sample::select(vec!["Pre", "Post", "Stop"]), list, 0..3);
    let servers = prop::collection::hash_map("[a-h]{1,4}", Just(json!({ "command": "x" })), 0..3);
    (lists, servers, any::<bool>(), any::<bool>()).prop_map(|(lists, servers, hooks, version)| {
        let mut top = json!({ "other": { "deep": [1, null, "text"] } });
        if hooks && !lists.is_empty() {
            top["hooks"] = json!(lists);
        }
        if !servers.is_empty() {
            top["servers"] = json!(servers);
        }
        if version {
            top["version"] = json!(7);
        }
        top
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn installing_twice_is_once_and_removing_restores_the_file(top in foreign(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&top).unwrap() } else { top.to_string() };
        let once = with_entries(&text, &parts()).unwrap();
        prop_assert_eq!(with_entries(&once, &parts()).unwrap(), once.clone());
        let now = data(&once).unwrap();
        prop_assert_eq!(&now["other"], &top["other"]);
        let back = take(&once, &parts()).unwrap().unwrap();
        let mut back = data(&back).unwrap();
        if top.get("version").is_none() {
            back.as_object_mut().unwrap().shift_remove("version");
        }
        prop_assert_eq!(back, top);
    }
}
