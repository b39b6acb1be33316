; Annotations and modifiers are part of the definition.
(class_declaration "interface" (type_identifier) @name) @definition.interface
(class_declaration (type_identifier) @name (enum_class_body)) @definition.enum
(class_declaration (type_identifier) @name) @definition.class
(object_declaration (type_identifier) @name) @definition.class
(companion_object (type_identifier) @name) @definition.class
(companion_object "companion" @name) @definition.class
(type_alias (type_identifier) @name) @definition.type

; `fun String.shout()` is named `String.shout`.
(function_declaration receiver: (_) @scope (simple_identifier) @name . (function_value_parameters) @parameters) @definition.function
(function_declaration (simple_identifier) @name . (function_value_parameters) @parameters) @definition.function
(secondary_constructor "constructor" @name (function_value_parameters) @parameters) @definition.method
(anonymous_initializer "init" @name) @definition.method

; Properties with their own code to get or set the value. If an accessor is on a line of its own, the grammar
; puts it beside the property, and the accessor is the block.
(class_body (property_declaration (variable_declaration . (simple_identifier) @name) [(getter (function_body)) (setter (function_body))]) @definition.method)
(class_body (getter "get" @name (function_body)) @definition.method)
(class_body (setter "set" @name (function_body)) @definition.method)

(source_file (property_declaration receiver: (_) @scope (variable_declaration . (simple_identifier) @name)) @definition.variable)
(source_file (property_declaration (binding_pattern_kind "val") (variable_declaration . (simple_identifier) @name)) @definition.constant)
(source_file (property_declaration (binding_pattern_kind "var") (variable_declaration . (simple_identifier) @name)) @definition.variable)
(class_body (property_declaration (modifiers (property_modifier "const")) (variable_declaration . (simple_identifier) @name)) @definition.constant)

; Tests, as written for Kotest.
(call_expression
  . (simple_identifier) @_runner
  . (call_suffix (value_arguments . (value_argument . (string_literal) @name .)) (annotated_lambda))
  (#any-of? @_runner "describe" "context" "it" "test" "should" "expect" "feature" "scenario")) @definition.test
