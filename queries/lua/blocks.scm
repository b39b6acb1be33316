; `function Order.new()` is named `Order.new`, and `function Order:total()` is the method `Order.total`.
(function_declaration name: (method_index_expression table: (_) @scope method: (identifier) @name)) @definition.method
(function_declaration name: (dot_index_expression table: (_) @scope field: (identifier) @name)) @definition.function
(function_declaration name: (identifier) @name) @definition.function

; `f = function() end` is a function, at top level and in a table.
(chunk (assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @scope field: (identifier) @name) .)
  (expression_list . value: (function_definition))) @definition.function)
(chunk (assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition))) @definition.function)
(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition)))) @definition.function)
(table_constructor (field name: (identifier) @name value: (function_definition)) @definition.function)
(table_constructor (field name: (string content: (string_content) @name) value: (function_definition)) @definition.function)

(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name . attribute: (attribute (identifier) @_const)))
  (#eq? @_const "const")) @definition.constant)
(chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name))) @definition.variable)
(chunk (variable_declaration (variable_list . name: (identifier) @name)) @definition.variable)
(chunk (assignment_statement (variable_list . name: (identifier) @name)) @definition.variable)

; Tests, as written for busted.
(function_call
  name: (identifier) @_runner
  arguments: (arguments . (string) @name . (function_definition))
  (#any-of? @_runner "describe" "context" "it" "spec" "test")) @definition.test
