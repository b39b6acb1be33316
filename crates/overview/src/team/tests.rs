use super::*;

#[test]
fn our_lines_are_between_marks_and_can_be_removed() {
    for text in ["", "* @all\n", "* @all", "* @all\r\n/docs @ada\r\n", "\n\n"] {
        let put = with_block(text, "/a @x\n/b @x\n");
        assert_eq!(with_block(&put, "/a @x\n/b @x\n"), put);
        assert!(with_block(&put, "/a @y\n").contains("/a @y"));
        match without_block(&put) {
            Some(Remainder::Nothing) => assert_eq!(text.trim(), ""),
            Some(Remainder::Text(rest)) => assert_eq!(rest.trim_end(), text.trim_end()),
            _ => panic!("{put:?}"),
        }
    }
}

#[test]
fn marks_that_do_not_pair_are_left_alone() {
    for text in
        [format!("{BEGIN}\na\n"), format!("a\n{END}\n"), format!("{BEGIN}\n{BEGIN}\n{END}\n")]
    {
        assert!(matches!(without_block(&text), Some(Remainder::Theirs(_))), "{text}");
    }
    assert!(without_block("nothing of ours\n").is_none());
}
