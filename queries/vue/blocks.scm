; The parts of a component, custom ones included, and in its template what has
; an id. What a script or style sheet defines is found by its own language's query.
; With queries/markup.
(template_element
  (start_tag (attribute (attribute_name) @_key
    [(quoted_attribute_value (attribute_value) @name) (attribute_value) @name]))
  (#match? @_key "^[iI][dD]$")) @definition.section

(document (element (start_tag (tag_name) @name)) @definition.section)
(document (template_element (start_tag (tag_name) @name)) @definition.section)
