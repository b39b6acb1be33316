; Elements with an id, which is their name. Scripts and style sheets without an id are named by their tag.
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
