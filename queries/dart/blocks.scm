; Annotations are part of the definition.
(class_declaration name: (_) @name) @definition.class
(mixin_declaration name: (_) @name) @definition.class
(mixin_application_class) @definition.class
(extension_declaration name: (_) @name) @definition.impl
(extension_declaration class: (_) @name) @definition.impl
(extension_type_declaration name: (_) @name) @definition.class
(enum_declaration name: (_) @name) @definition.enum

(function_declaration signature: (function_signature name: (_) @name (formal_parameter_list) @parameters)) @definition.function
(external_function_declaration signature: (function_signature name: (_) @name (formal_parameter_list) @parameters)) @definition.function
(getter_declaration signature: (getter_signature name: (_) @name)) @definition.function
(setter_declaration signature: (setter_signature name: (_) @name parameters: (_) @parameters)) @definition.function
(local_function_declaration (function_signature name: (_) @name (formal_parameter_list) @parameters)) @definition.function

(member_declaration (method_declaration signature: (method_signature [
  (function_signature name: (_) @name (formal_parameter_list) @parameters)
  (operator_signature operator: _ @name (formal_parameter_list) @parameters)
  (getter_signature name: (_) @name)
  (setter_signature name: (_) @name parameters: (_) @parameters)
]))) @definition.method
(member_declaration (declaration [
  (function_signature name: (_) @name (formal_parameter_list) @parameters)
  (operator_signature operator: _ @name (formal_parameter_list) @parameters)
  (getter_signature name: (_) @name)
  (setter_signature name: (_) @name parameters: (_) @parameters)
])) @definition.method

; The constructor `Order.empty()` in the class `Order` is named `Order.Order.empty`.
(member_declaration (declaration [
  (constructor_signature name: (_) @scope name: (_) @name parameters: (_) @parameters)
  (constant_constructor_signature name: (_) @scope name: (_) @name parameters: (_) @parameters)
  (redirecting_factory_constructor_signature name: (_) @scope name: (_) @name parameters: (_) @parameters)
])) @definition.method
(member_declaration (method_declaration signature: (method_signature [
  (constructor_signature name: (_) @scope name: (_) @name parameters: (_) @parameters)
  (factory_constructor_signature name: (_) @scope name: (_) @name parameters: (_) @parameters)
]))) @definition.method
(member_declaration (declaration [
  (constructor_signature name: (_) @name parameters: (_) @parameters)
  (constant_constructor_signature name: (_) @name parameters: (_) @parameters)
  (redirecting_factory_constructor_signature name: (_) @name parameters: (_) @parameters)
])) @definition.method
(member_declaration (method_declaration signature: (method_signature [
  (constructor_signature name: (_) @name parameters: (_) @parameters)
  (factory_constructor_signature name: (_) @name parameters: (_) @parameters)
]))) @definition.method

(top_level_variable_declaration (static_final_declaration_list . (static_final_declaration name: (_) @name))) @definition.constant
(top_level_variable_declaration (initialized_identifier_list . (initialized_identifier name: (_) @name))) @definition.variable
(member_declaration (declaration "static" (static_final_declaration_list . (static_final_declaration name: (_) @name)))) @definition.constant
(type_alias . (type_identifier) @name) @definition.type

; Tests, as written for the usual test runners.
(expression_statement
  (call_expression
    function: (identifier) @_runner
    arguments: (arguments . (string_literal) @name . (function_expression)))
  (#any-of? @_runner "group" "test" "testWidgets")) @definition.test
