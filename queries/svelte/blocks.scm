; The script, style sheet and snippets of a component, and the elements with an id.
; Definitions inside a script or style sheet are found by the query of its own language.
; Used together with queries/markup.
(snippet_statement (snippet_start (snippet_name) @name)) @definition.function
