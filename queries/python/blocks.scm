; Decorators come before the definition and are not part of it.
(function_definition name: (identifier) @name) @definition.function
(class_definition name: (identifier) @name) @definition.class
(module (expression_statement . (assignment left: (identifier) @name) .) @definition.constant
  (#match? @name "^[A-Z][A-Z0-9_]*$"))
(module (expression_statement . (assignment left: (identifier) @name) .) @definition.variable)
(module (type_alias_statement left: (type (identifier) @name)) @definition.type)
