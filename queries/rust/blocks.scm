[
  (source_file (function_item name: (identifier) @name parameters: (parameters) @parameters) @definition.function)
  (declaration_list (function_item name: (identifier) @name parameters: (parameters) @parameters) @definition.function)
  (block (function_item name: (identifier) @name parameters: (parameters) @parameters) @definition.function)
  (source_file (function_signature_item name: (identifier) @name parameters: (parameters) @parameters) @definition.function)
  (declaration_list (function_signature_item name: (identifier) @name parameters: (parameters) @parameters) @definition.function)
]
[
  (source_file (struct_item name: (type_identifier) @name) @definition.struct)
  (declaration_list (struct_item name: (type_identifier) @name) @definition.struct)
]
[
  (source_file (enum_item name: (type_identifier) @name) @definition.enum)
  (declaration_list (enum_item name: (type_identifier) @name) @definition.enum)
]
[
  (source_file (union_item name: (type_identifier) @name) @definition.union)
  (declaration_list (union_item name: (type_identifier) @name) @definition.union)
]
[
  (source_file (trait_item name: (type_identifier) @name) @definition.trait)
  (declaration_list (trait_item name: (type_identifier) @name) @definition.trait)
]
[
  (source_file (impl_item trait: (_)? @name.trait type: (_) @name) @definition.impl)
  (declaration_list (impl_item trait: (_)? @name.trait type: (_) @name) @definition.impl)
]
[
  (source_file (mod_item name: (identifier) @name body: (_)) @definition.module)
  (declaration_list (mod_item name: (identifier) @name body: (_)) @definition.module)
]
[
  (source_file (const_item name: (identifier) @name) @definition.constant)
  (declaration_list (const_item name: (identifier) @name) @definition.constant)
]
[
  (source_file (static_item name: (identifier) @name) @definition.variable)
  (declaration_list (static_item name: (identifier) @name) @definition.variable)
]
[
  (source_file (type_item name: (type_identifier) @name) @definition.type)
  (declaration_list (type_item name: (type_identifier) @name) @definition.type)
  (declaration_list (associated_type name: (type_identifier) @name) @definition.type)
]
[
  (source_file (macro_definition name: (identifier) @name) @definition.macro)
  (declaration_list (macro_definition name: (identifier) @name) @definition.macro)
  (block (macro_definition name: (identifier) @name) @definition.macro)
]
