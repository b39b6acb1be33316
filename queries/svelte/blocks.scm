; The parts of a component, its snippets, and in its markup what has an id. What
; a script or style sheet defines is found by its own language's query.
; With queries/markup.
(snippet_statement (snippet_start (snippet_name) @name)) @definition.function
