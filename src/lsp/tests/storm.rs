//! Sends thousands of edits and requests at once, and compares the results with a simple model of
//! the text.

use super::*;
use code::Encoding;

const EDITS: i32 = 3_000;

/// A small random generator, so that a seed identifies a run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }
}

const PIECES: [&str; 12] =
    ["", "x", "fn f() {}\n", "\r\n", "\n", "\r", "ä", "日本", "𝒳", "👩‍👩‍👧", "}\r\n", "\u{2028}\u{b}"];

/// The text as a plain list of characters. Positions are counted from the start each time.
struct Model {
    text: Vec<char>,
    encoding: Encoding,
}

impl Model {
    fn unit(&self, character: char) -> u32 {
        match self.encoding {
            Encoding::Utf8 => character.len_utf8() as u32,
            Encoding::Utf16 => character.len_utf16() as u32,
            Encoding::Utf32 => 1,
        }
    }

    /// Returns line and column of a place. The middle of `\r\n` is no position.
    fn position(&self, place: usize) -> (u32, u32) {
        let (mut line, mut column) = (0, 0);
        for (at, character) in self.text[..place].iter().enumerate() {
            let before_newline = *character == '\r' && self.text.get(at + 1) == Some(&'\n');
            match character {
                '\r' if before_newline => {}
                '\n' | '\r' => (line, column) = (line + 1, 0),
                other => column += self.unit(*other),
            }
        }
        (line, column)
    }

    fn place(&self, random: &mut Random) -> usize {
        let place = random.below(self.text.len() + 1);
        let inside = place > 0
            && self.text.get(place) == Some(&'\n')
            && self.text.get(place - 1) == Some(&'\r');
        place - usize::from(inside)
    }

    fn change(&mut self, random: &mut Random) -> Value {
        // Sometimes the whole text is replaced, which also keeps it short.
        if self.text.len() > 400 || random.below(200) == 0 {
            let text = PIECES[random.below(PIECES.len())].repeat(3);
            self.text = text.chars().collect();
            return json!({ "text": text });
        }
        let (a, b) = (self.place(random), self.place(random));
        let start = a.min(b);
        let end = a.max(b).min(start + 12);
        let end = if end > start && self.text[end - 1] == '\r' && self.text.get(end) == Some(&'\n')
        {
            end + 1
        } else {
            end
        };
        let text = PIECES[random.below(PIECES.len())];
        let change =
            json!({ "range": range(self.position(start), self.position(end)), "text": text });
        self.text.splice(start..end, text.chars());
        change
    }

    fn string(&self) -> String {
        self.text.iter().collect()
    }
}

fn storm(encoding: Encoding, name: &str, seed: u64) {
    println!("storm in {name} with seed {seed:#x}");
    let client = json!({ "general": { "positionEncodings": [name] } });
    let mut session = Session::with(parts(), client);
    let mut model = Model { text: "fn main() {}\r\n".chars().collect(), encoding };
    session.open(A, &model.string());
    let mut random = Random(seed);
    let mut expected: Vec<(i64, String)> = Vec::new();
    for version in 2..EDITS + 2 {
        let many = 1 + random.below(3);
        let changes: Vec<Value> = (0..many).map(|_| model.change(&mut random)).collect();
        session.change(A, version, Value::Array(changes));
        if random.below(8) == 0 {
            expected.push((session.hover(A), model.string()));
        }
        if random.below(50) == 0 {
            let id = session.hover(A);
            session.tell("$/cancelRequest", json!({ "id": id }));
            let reply = session.reply(id);
            assert!(reply["error"]["code"] == -32800 || reply["error"].is_null(), "{reply}");
        }
    }
    let count = expected.len();
    // Answers arrive in any order, so each is found by its id.
    let mut texts: std::collections::HashMap<i64, String> = expected.into_iter().collect();
    for _ in 0..count {
        let reply = session.next();
        let id = reply["id"].as_i64().unwrap_or_else(|| panic!("no answer: {reply}"));
        let text = texts.remove(&id).unwrap_or_else(|| panic!("answered twice: {reply}"));
        assert_eq!(reply["result"]["contents"]["value"], text, "seed {seed:#x}, request {id}");
    }
    assert!(texts.is_empty());
    assert_eq!(session.text(A), Some(model.string()), "seed {seed:#x}");
    session.finish();
}

#[test]
#[ignore = "slow"]
fn many_edits_at_once_are_applied_right_in_utf_8() {
    storm(Encoding::Utf8, "utf-8", 0x9e37_79b9_7f4a_7c15);
}

#[test]
#[ignore = "slow"]
fn many_edits_at_once_are_applied_right_in_utf_16() {
    storm(Encoding::Utf16, "utf-16", 0xd1b5_4a32_d192_ed03);
}

#[test]
#[ignore = "slow"]
fn many_edits_at_once_are_applied_right_in_utf_32() {
    storm(Encoding::Utf32, "utf-32", 0x8bb8_4b93_962e_acc9);
}
