; `Foo::bar`, defined outside its class, is named `Foo.bar`.
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier) @name parameters: (parameter_list) @parameters)
  (pointer_declarator (function_declarator declarator: (qualified_identifier) @name parameters: (parameter_list) @parameters))
  (reference_declarator (function_declarator declarator: (qualified_identifier) @name parameters: (parameter_list) @parameters))
]) @definition.method
(function_definition declarator: [
  (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @name parameters: (parameter_list) @parameters)
  (pointer_declarator (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name parameters: (parameter_list) @parameters))
  (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name parameters: (parameter_list) @parameters))
]) @definition.function
(declaration declarator: [
  (function_declarator declarator: [(identifier) (destructor_name) (operator_name)] @name parameters: (parameter_list) @parameters)
  (pointer_declarator (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters))
  (reference_declarator (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters))
]) @definition.function @outside
(field_declaration declarator: [
  (function_declarator declarator: (field_identifier) @name parameters: (parameter_list) @parameters)
  (pointer_declarator (function_declarator declarator: (field_identifier) @name parameters: (parameter_list) @parameters))
  (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (parameter_list) @parameters))
]) @definition.method @outside
(namespace_definition name: (_) @name) @definition.namespace
(class_specifier name: (_) @name body: (_)) @definition.class @outside
(struct_specifier name: (_) @name body: (_)) @definition.struct @outside
(union_specifier name: (_) @name body: (_)) @definition.union @outside
(enum_specifier name: (_) @name body: (_)) @definition.enum @outside
(type_definition declarator: (type_identifier) @name) @definition.type @outside
(alias_declaration name: (type_identifier) @name) @definition.type @outside
(concept_definition name: (identifier) @name) @definition.type
(declaration declarator: [
  (identifier) @name
  (init_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  (init_declarator declarator: (array_declarator declarator: (identifier) @name))
]) @definition.variable @outside
(preproc_function_def name: (identifier) @name) @definition.macro
(preproc_def name: (identifier) @name) @definition.macro
