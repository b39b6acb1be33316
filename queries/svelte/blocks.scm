; The parts of a component, its snippets, and in its markup what has an id. What
; a script or style sheet defines is found by its own language's query.
(element
  (start_tag (attribute (attribute_name) @_key
    [(quoted_attribute_value (attribute_value) @name) (attribute_value) @name]))
  (#match? @_key "^[iI][dD]$")) @definition.section
(element
  (self_closing_tag (attribute (attribute_name) @_key
    [(quoted_attribute_value (attribute_value) @name) (attribute_value) @name]))
  (#match? @_key "^[iI][dD]$")) @definition.section
(script_element
  (start_tag (attribute (attribute_name) @_key
    [(quoted_attribute_value (attribute_value) @name) (attribute_value) @name]))
  (#match? @_key "^[iI][dD]$")) @definition.section
(style_element
  (start_tag (attribute (attribute_name) @_key
    [(quoted_attribute_value (attribute_value) @name) (attribute_value) @name]))
  (#match? @_key "^[iI][dD]$")) @definition.section

(script_element (start_tag (tag_name) @name)) @definition.section
(style_element (start_tag (tag_name) @name)) @definition.section
(snippet_statement (snippet_start (snippet_name) @name)) @definition.function
