(package_clause name: (_) @name body: (_)) @definition.namespace
(package_object name: (_) @name) @definition.class
(class_definition name: (_) @name) @definition.class
; A class and its companion object are two blocks.
(object_definition name: (_) @name) @definition.module
(trait_definition name: (_) @name) @definition.trait
(enum_definition name: (_) @name) @definition.enum
(full_enum_case name: (_) @name) @definition.class
(given_definition name: (_) @name) @definition.constant
; `extension (text: String)` is named by its type.
(extension_definition parameters: (parameters . (parameter type: (_) @name))) @definition.impl

; Overloads are told apart by their first parameter list.
(function_definition name: (_) @name (parameters) @parameters) @definition.function
(function_definition name: (_) @name) @definition.function
(function_declaration name: (_) @name (parameters) @parameters) @definition.function
(function_declaration name: (_) @name) @definition.function

(compilation_unit (val_definition pattern: (_) @name) @definition.constant)
(compilation_unit (var_definition pattern: (_) @name) @definition.variable)
(object_definition body: (template_body (val_definition pattern: (identifier) @name) @definition.constant)
  (#match? @name "^[A-Z]"))
(compilation_unit (type_definition name: (_) @name) @definition.type)
(template_body (type_definition name: (_) @name) @definition.type)

; Tests, as written for the usual test runners.
(call_expression
  function: (call_expression
    function: (identifier) @_runner
    arguments: (arguments . (string) @name))
  arguments: [(block) (colon_argument) (indented_block)]
  (#any-of? @_runner "describe" "it" "test" "feature" "scenario" "property")) @definition.test
(infix_expression
  left: [(string) @name (infix_expression right: (string) @name)]
  operator: (identifier) @_in
  right: (block)
  (#any-of? @_in "in" "should" "when" "can" "must")) @definition.test
