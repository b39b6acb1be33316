; Elements with an id. Scripts, style sheets and templates are blocks even without one.
; Used together with queries/markup.
(element (start_tag (tag_name) @name) (#match? @name "^[tT][eE][mM][pP][lL][aA][tT][eE]$")) @definition.section
