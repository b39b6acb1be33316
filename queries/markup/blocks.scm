; What names itself by an id, and scripts and style sheets, which have a name without one.
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
