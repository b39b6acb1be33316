; Attributes and modifiers are part of the definition. An extension is named `Type`, or `Protocol for Type`.
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @definition.enum
(class_declaration declaration_kind: "extension" name: (_) @name . (inheritance_specifier inherits_from: (_) @name.trait)) @definition.impl
(class_declaration declaration_kind: "extension" name: (_) @name) @definition.impl
(class_declaration name: (type_identifier) @name) @definition.class
(protocol_declaration name: (type_identifier) @name) @definition.interface

; The grammar has no node for the list of parameters: they are children of the definition.
(function_declaration "func" name: [(simple_identifier) (custom_operator)] @name) @definition.function @parameters
(function_declaration "func" . _ @name . "(") @definition.function @parameters
(protocol_function_declaration name: (_) @name) @definition.method @parameters
(init_declaration "init" @name) @definition.method @parameters
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name) @definition.method @parameters
(macro_declaration (simple_identifier) @name) @definition.macro

; Properties with code to compute the value, or code that runs when the value is set.
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_)) @definition.method)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_)) @definition.method)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name) (willset_didset_block)) @definition.method)
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_)) @definition.variable)

(source_file (property_declaration (value_binding_pattern mutability: "let") . name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)
(source_file (property_declaration (value_binding_pattern mutability: "var") . name: (pattern bound_identifier: (simple_identifier) @name)) @definition.variable)
(class_body (property_declaration (modifiers (property_modifier "static")) (value_binding_pattern mutability: "let") . name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)
(enum_class_body (property_declaration (modifiers (property_modifier "static")) (value_binding_pattern mutability: "let") . name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)

(typealias_declaration . (modifiers)? . "typealias" . name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type
