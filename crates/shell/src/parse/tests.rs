use super::*;

/// Returns the structure of a text in a short notation: words as written, `|` between the commands
/// of a pipeline, `;` between pipelines.
fn shape(text: &str) -> String {
    match parse(text, 0) {
        Ok(items) => script(&items),
        Err(error) => format!("error: {}", error.what),
    }
}

fn script(items: &[Pipeline]) -> String {
    let shown: Vec<String> = items
        .iter()
        .map(|item| {
            let pipeline: Vec<String> = item.commands.iter().map(command).collect();
            format!("{}{}", pipeline.join("|"), if item.background { "&" } else { "" })
        })
        .collect();
    shown.join(";")
}

fn command(command: &ShellCommand) -> String {
    let kind = match &command.kind {
        Kind::Simple { assigns, words } => {
            let words: Vec<&str> = words.iter().map(|word| word.raw.as_str()).collect();
            let assigns: Vec<&str> = assigns.iter().map(|assign| assign.name.as_str()).collect();
            format!(
                "{}{}",
                assigns.iter().map(|name| format!("{name}=")).collect::<String>(),
                words.join(" ")
            )
        }
        Kind::Group(inside) => format!("{{{}}}", script(inside)),
        Kind::Subshell(inside) => format!("({})", script(inside)),
        Kind::Branches(parts) | Kind::Loop(parts) => {
            format!("[{}]", parts.iter().map(|part| script(part)).collect::<Vec<_>>().join("/"))
        }
        Kind::For { variable, over, body } => {
            format!("for {variable}:{} [{}]", over.len(), script(body))
        }
        Kind::Case { arms, .. } => {
            let arms: Vec<String> = arms.iter().map(|arm| script(&arm.body)).collect();
            format!("case[{}]", arms.join("/"))
        }
        Kind::Function { name, body } => format!("{name}(){}", self::command(body)),
        Kind::Test(words) => format!("test:{}", words.len()),
        Kind::Arithmetic(_) => "arithmetic".to_owned(),
        Kind::Coproc(inside) => format!("coproc {}", self::command(inside)),
    };
    let redirects: String =
        command.redirects.iter().map(|redirect| format!(" {:?}", redirect.direction)).collect();
    kind + &redirects
}

#[test]
fn commands_are_parsed_as_a_shell_parses_them() {
    for (text, expected) in [
        ("", ""),
        ("# nothing", ""),
        ("ls -l;pwd", "ls -l;pwd"),
        ("a && b || c &", "a;b;c&"),
        ("a |& b | c", "a|b|c"),
        ("! a", "a"),
        ("time -p a", "a"),
        ("A=1 B+=2 c d=3", "A=B=c d=3"),
        ("a=(1 2 3)", "a="),
        ("if a; then b; elif c; then d; else e; fi", "[a/b/c/d/e]"),
        ("while a\ndo b\ndone > x", "[a/b] Write"),
        ("for x in 1 2; do a; done", "for x:2 [a]"),
        ("for ((i=0; i<3; i++)); do a; done", "[arithmetic/a]"),
        ("case x in a|b) c;; (d) ;; *) e; esac", "case[c//e]"),
        ("f() { a; }", "f(){a}"),
        ("function f { a; }", "f(){a}"),
        ("(a; b) | { c; }", "(a;b)|{c}"),
        ("[[ a =~ ^(b|c)$ && -f d ]]", "test:8"),
        ("((x++))", "arithmetic"),
        ("((a); b)", "((a);b)"),
        ("a <<X | b\nbody\nX\nc", "a Document|b;c"),
        ("a <<-'X'\n\tbody\n\tX", "a Document"),
        ("a 2>&1 >b <c >>d &>e", "a Duplicate Write Read Append Write"),
        ("a {fd}>x", "a Write"),
        ("a \\\n b", "a b"),
        ("a b#c # d", "a b#c"),
        ("coproc a", "coproc a"),
        ("echo if then", "echo if then"),
        ("a | while read x; do b; done", "a|[read x/b]"),
        ("echo }", "echo }"),
        ("a;", "a"),
        ("a;;", "error: a word or sign that begins no command"),
        ("a ( b", "error: a ( where none belongs"),
        ("(a", "error: a ( is not closed"),
        ("fi", "error: a reserved word where none belongs"),
        ("a |", "error: nothing follows the pipe"),
        ("if a; then fi", "error: a compound command without a command"),
        ("if a; then b; elif c; then else d; fi", "error: a compound command without a command"),
        ("while a; do done", "error: a compound command without a command"),
        ("f() { }", "error: a compound command without a command"),
        ("case x in a) ;; esac", "case[]"),
        ("if a", "error: an if without then"),
        ("if a; then", "error: an if without fi"),
        // Only a line end directly after an unescaped `\\` continues the line.
        ("a \\\r\nb", "a \\\r;b"),
        ("a <<E\nE\\\n\nb", "a Document;b"),
        ("a <<E\nx\\\\\nE\nb", "a Document;b"),
        ("a <<'E'\nx\\\nE\nb", "a Document;b"),
        ("a <<E\r\nE\nE\r\nb", "a Document;b"),
        ("a <<\"$E\"\n$E\nb", "error: an expansion and quotes at the end of a heredoc"),
        ("a <<$E\nb\n$E", "a Document"),
        ("a <<E; ((b '$(' ); c)\nd\nE", "a Document;((b '$(');c)"),
    ] {
        assert_eq!(shape(text), expected, "{text:?}");
    }
}

#[test]
fn only_a_quoted_end_makes_the_body_of_a_heredoc_literal() {
    for (end, literal) in [
        ("E", false),
        ("E$", false),
        ("E\\\nF", false),
        ("${E}", false),
        ("'E'", true),
        ("\\E", true),
        ("E''", true),
        ("$'E'", true),
    ] {
        let last = end.replace(['\'', '\\', '\n'], "").replace("$E", "E");
        let tree = parse(&format!("a <<{end}\n$x\n{last}"), 0).expect(end);
        let body = tree[0].commands[0].redirects[0].body.get().expect("a body");
        assert_eq!(body.as_plain_text().is_some(), literal, "{end:?}");
    }
}

#[test]
fn an_output_is_redirected_only_if_it_is_the_standard_output() {
    for (redirect, expected) in [
        (">x", true),
        ("1>x", true),
        ("&>x", true),
        ("1<>x", true),
        ("<>x", false),
        ("2>x", false),
        ("{fd}>x", false),
    ] {
        let tree = parse(&format!("a {redirect}"), 0).expect(redirect);
        assert_eq!(tree[0].commands[0].redirects[0].output, expected, "{redirect}");
    }
}

#[test]
fn the_position_of_an_error_is_counted_in_characters() {
    assert_eq!(parse("éé )", 0).map(|_| ()).map_err(|error| error.at), Err(3));
}

#[test]
fn words_lose_their_quotes() {
    for (text, expected) in [
        ("a'b'\"c\"\\d", "abcd"),
        ("$'\\x72\\155\\u0021\\n'", "rm!\n"),
        ("\"a\\b\\\"c\\$d\"", "a\\b\"c$d"),
        ("a\\\nb", "ab"),
        ("'a\\b'", "a\\b"),
        ("$", "$"),
    ] {
        let tree = parse(text, 0).expect("a word");
        let Kind::Simple { words, .. } = &tree[0].commands[0].kind else { panic!("simple") };
        assert_eq!(words[0].as_plain_text().as_deref(), Some(expected), "{text:?}");
    }
}
