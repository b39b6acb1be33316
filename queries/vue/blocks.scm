; The top-level parts of a component, custom ones included, and the elements with an
; id in its template. Definitions inside a script or style sheet are found by the
; query of its own language. Used together with queries/markup.
(template_element
  (start_tag (attribute (attribute_name) @_key
    [(quoted_attribute_value (attribute_value) @name) (attribute_value) @name]))
  (#match? @_key "^[iI][dD]$")) @definition.section

(document (element (start_tag (tag_name) @name)) @definition.section)
(document (template_element (start_tag (tag_name) @name)) @definition.section)
