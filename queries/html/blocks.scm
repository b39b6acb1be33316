; What a page names itself: an element with an id. Scripts, style sheets and
; templates are blocks without one, too.
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
(element (start_tag (tag_name) @name) (#match? @name "^[tT][eE][mM][pP][lL][aA][tT][eE]$")) @definition.section
