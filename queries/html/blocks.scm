; What a page names itself: an element with an id. Scripts, style sheets and
; templates are blocks without one, too.
; With queries/markup.
(element (start_tag (tag_name) @name) (#match? @name "^[tT][eE][mM][pP][lL][aA][tT][eE]$")) @definition.section
