//! Draws the badge: how much of a commit was recorded under an intent.

use ground::text::percent;
use overview::report::BadgeAnswer;

/// The width of a character of the badge's font on average, in pixels.
const CHARACTER: usize = 7;
const LABEL: &str = "intents";

pub fn svg(answer: &BadgeAnswer) -> String {
    let value = format!("{} of lines", percent(answer.under_intent, answer.lines));
    let width = |text: &str| text.chars().count() * CHARACTER + 10;
    let (left, right) = (width(LABEL), width(&value));
    let all = left + right;
    let said = format!("{LABEL}: {value}");
    let text = |middle: usize, words: &str| {
        let length = width(words) - 10;
        format!("<text x=\"{middle}\" y=\"14\" textLength=\"{length}\">{words}</text>")
    };
    let (label, number) = (text(left / 2, LABEL), text(left + right / 2, &value));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" aria-label=\"{said}\">\
<title>{said}</title>\
<clipPath id=\"r\"><rect width=\"{all}\" height=\"20\" rx=\"3\"/></clipPath>\
<g clip-path=\"url(#r)\"><path fill=\"#444\" d=\"M0 0h{left}v20H0z\"/><path fill=\"#0b5cad\" d=\"M{left} 0h{right}v20H{left}z\"/></g>\
<g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">{label}{number}</g>\
</svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_names_the_share() {
        insta::assert_snapshot!(svg(&BadgeAnswer { lines: 100, under_intent: 64 }));
    }
}
