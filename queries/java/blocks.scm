(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(annotation_type_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(class_body (method_declaration name: (identifier) @name parameters: (_) @parameters) @definition.method)
(interface_body (method_declaration name: (identifier) @name parameters: (_) @parameters) @definition.method)
(enum_body_declarations (method_declaration name: (identifier) @name parameters: (_) @parameters) @definition.method)
(class_body (constructor_declaration name: (identifier) @name parameters: (_) @parameters) @definition.method)
(enum_body_declarations (constructor_declaration name: (identifier) @name parameters: (_) @parameters) @definition.method)
(class_body (compact_constructor_declaration name: (identifier) @name) @definition.method)
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(class_body (field_declaration (modifiers "static" "final") . type: (_) . declarator: (variable_declarator name: (identifier) @name)) @definition.constant)
(interface_body (constant_declaration . type: (_) . declarator: (variable_declarator name: (identifier) @name)) @definition.constant)
(module_declaration name: (_) @name) @definition.module
