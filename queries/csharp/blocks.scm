; Attributes and modifiers are part of the definition.
(namespace_declaration name: (_) @name) @definition.namespace
(class_declaration name: (identifier) @name) @definition.class
(record_declaration "struct" name: (identifier) @name) @definition.struct
(record_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name) @definition.struct
(interface_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(delegate_declaration name: (identifier) @name parameters: (_) @parameters) @definition.type

(method_declaration name: (identifier) @name parameters: (_) @parameters) @definition.method
(constructor_declaration name: (identifier) @name parameters: (_) @parameters) @definition.method
(destructor_declaration "~" @name) @definition.method
(operator_declaration operator: _ @name parameters: (_) @parameters) @definition.method
(conversion_operator_declaration type: (_) @name parameters: (_) @parameters) @definition.method
(indexer_declaration "this" @name parameters: (_) @parameters) @definition.method
(local_function_statement name: (identifier) @name parameters: (_) @parameters) @definition.function

; Properties and events with their own code to get or set a value.
(property_declaration name: (identifier) @name value: (arrow_expression_clause)) @definition.method
(property_declaration name: (identifier) @name accessors: (accessor_list (accessor_declaration body: (_)))) @definition.method
(event_declaration name: (identifier) @name accessors: (_)) @definition.method

(field_declaration (modifier "const") (variable_declaration . type: (_) . (variable_declarator name: (identifier) @name))) @definition.constant
(field_declaration (modifier "static") (modifier "readonly") (variable_declaration . type: (_) . (variable_declarator name: (identifier) @name))) @definition.constant
