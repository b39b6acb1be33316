; For TypeScript and TSX. Used together with queries/ecmascript.
(public_field_definition name: (_) @name value: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters)]) @definition.method
(class_declaration name: (type_identifier) @name) @definition.class
(abstract_class_declaration name: (type_identifier) @name) @definition.class
(interface_declaration name: (type_identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(function_signature name: (identifier) @name parameters: (_) @parameters) @definition.function
(class_body (method_signature name: (_) @name parameters: (_) @parameters) @definition.method)
(interface_body (method_signature name: (_) @name parameters: (_) @parameters) @definition.method)
(abstract_method_signature name: (_) @name parameters: (_) @parameters) @definition.method
(internal_module name: (_) @name) @definition.namespace
(module name: (_) @name) @definition.module
[
  (program (type_alias_declaration name: (type_identifier) @name) @definition.type)
  (export_statement (type_alias_declaration name: (type_identifier) @name) @definition.type)
  (ambient_declaration (type_alias_declaration name: (type_identifier) @name) @definition.type)
]
