(function_definition declarator: [
  (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters)
  (pointer_declarator (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters))
  (pointer_declarator (pointer_declarator (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters)))
]) @definition.function
; Prototypes, as in header files.
(declaration declarator: [
  (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters)
  (pointer_declarator (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters))
]) @definition.function @outside
(type_definition declarator: (type_identifier) @name) @definition.type @outside
(struct_specifier name: (type_identifier) @name body: (_)) @definition.struct @outside
(union_specifier name: (type_identifier) @name body: (_)) @definition.union @outside
(enum_specifier name: (type_identifier) @name body: (_)) @definition.enum @outside
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
