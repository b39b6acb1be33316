; Attributes and modifiers are part of the definition.
(namespace_definition name: (_) @name body: (_)) @definition.namespace
(class_declaration name: (name) @name) @definition.class
(interface_declaration name: (name) @name) @definition.interface
(trait_declaration name: (name) @name) @definition.trait
(enum_declaration name: (name) @name) @definition.enum

(function_definition name: (name) @name parameters: (_) @parameters) @definition.function
(method_declaration name: (name) @name parameters: (_) @parameters) @definition.method
(property_declaration (property_element name: (variable_name) @name) (property_hook_list)) @definition.method
(property_promotion_parameter name: (variable_name) @name (property_hook_list)) @definition.method

; `$f = function () {}` and `$f = fn () => 1` at top level are functions.
(program (expression_statement (assignment_expression left: (variable_name) @name right: [
  (anonymous_function parameters: (_) @parameters) (arrow_function parameters: (_) @parameters)])) @definition.function)

(const_declaration (const_element . (name) @name)) @definition.constant
(program (expression_statement (function_call_expression function: (name) @_define arguments: (arguments . (argument (string (string_content) @name))))
  (#eq? @_define "define")) @definition.constant)
(program (expression_statement (assignment_expression left: (variable_name) @name)) @definition.variable)

; Tests, as written for Pest.
(expression_statement
  (function_call_expression
    function: (name) @_runner
    arguments: (arguments . (argument [(string) (encapsed_string)] @name) . (argument [(anonymous_function) (arrow_function)])))
  (#any-of? @_runner "describe" "it" "test")) @definition.test
