; In `let … and …`, each binding is a block. A single `let` is a block as a whole.
[
  (compilation_unit (value_definition . (let_binding pattern: (_) @name (parameter)) .) @definition.function)
  (structure (value_definition . (let_binding pattern: (_) @name (parameter)) .) @definition.function)
  (let_expression (value_definition . (let_binding pattern: (_) @name (parameter)) .) @definition.function)
]
[
  (compilation_unit (value_definition . (let_binding pattern: (_) @name body: [(fun_expression) (function_expression)]) .) @definition.function)
  (structure (value_definition . (let_binding pattern: (_) @name body: [(fun_expression) (function_expression)]) .) @definition.function)
  (let_expression (value_definition . (let_binding pattern: (_) @name body: [(fun_expression) (function_expression)]) .) @definition.function)
]
[
  (value_definition (let_binding pattern: (_) @name (parameter)) @definition.function . (let_binding))
  (value_definition (let_binding) . (let_binding pattern: (_) @name (parameter)) @definition.function)
  (value_definition (let_binding pattern: (_) @name body: [(fun_expression) (function_expression)]) @definition.function . (let_binding))
  (value_definition (let_binding) . (let_binding pattern: (_) @name body: [(fun_expression) (function_expression)]) @definition.function)
]
[
  (compilation_unit (value_definition . (let_binding pattern: [(value_name) (tuple_pattern) (record_pattern)] @name) .) @definition.constant)
  (structure (value_definition . (let_binding pattern: [(value_name) (tuple_pattern) (record_pattern)] @name) .) @definition.constant)
]
[
  (compilation_unit (value_definition (let_binding pattern: (value_name) @name) @definition.constant . (let_binding)))
  (compilation_unit (value_definition (let_binding) . (let_binding pattern: (value_name) @name) @definition.constant))
  (structure (value_definition (let_binding pattern: (value_name) @name) @definition.constant . (let_binding)))
  (structure (value_definition (let_binding) . (let_binding pattern: (value_name) @name) @definition.constant))
]
(external . [(value_name) (parenthesized_operator)] @name) @definition.function
(value_specification . [(value_name) (parenthesized_operator)] @name) @definition.function

; Tests, as written for ppx_inline_test and ppx_expect.
(value_definition (attribute_id) @_word . (let_binding pattern: (string) @name)
  (#match? @_word "test$")) @definition.test

(type_definition . (type_binding name: (_) @name) .) @definition.type
(type_definition (type_binding name: (_) @name) @definition.type . (type_binding))
(type_definition (type_binding) . (type_binding name: (_) @name) @definition.type)
(exception_definition (constructor_declaration . (constructor_name) @name)) @definition.type

(module_definition . (module_binding . (module_name) @name) .) @definition.module
(module_definition (module_binding . (module_name) @name) @definition.module . (module_binding))
(module_definition (module_binding) . (module_binding . (module_name) @name) @definition.module)
(module_type_definition . (module_type_name) @name) @definition.interface

(class_definition . (class_binding (class_name) @name) .) @definition.class
(class_definition (class_binding (class_name) @name) @definition.class . (class_binding))
(class_definition (class_binding) . (class_binding (class_name) @name) @definition.class)
(class_type_definition . (class_type_binding (class_type_name) @name) .) @definition.interface
(method_definition (method_name) @name) @definition.method
(method_specification (method_name) @name) @definition.method
