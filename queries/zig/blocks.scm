(variable_declaration "const" . (identifier) @name [(struct_declaration) (opaque_declaration)]) @definition.struct
(variable_declaration "const" . (identifier) @name (enum_declaration)) @definition.enum
(variable_declaration "const" . (identifier) @name (union_declaration)) @definition.union
(function_declaration name: (_) @name (parameters) @parameters) @definition.function
(test_declaration [(string) (identifier)] @name) @definition.test
(test_declaration "test" @name) @definition.test

(source_file (variable_declaration "const" . (identifier) @name [(error_set_declaration) (pointer_type) (slice_type) (nullable_type) (array_type) (error_union_type)]) @definition.type)
; Imports are not definitions.
[
  (source_file (variable_declaration "const" . (identifier) @name) @definition.constant)
  (struct_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
  (enum_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
  (union_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
  (#not-match? @definition.constant "@import\\(")
]
[
  (source_file (variable_declaration "var" . (identifier) @name) @definition.variable)
  (struct_declaration (variable_declaration "var" . (identifier) @name) @definition.variable)
]
