; Used together with queries/ecmascript.
(field_definition property: (_) @name value: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters)]) @definition.method
(class_declaration name: (identifier) @name) @definition.class
