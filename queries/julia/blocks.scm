(module_definition name: (_) @name) @definition.module
(struct_definition (type_head (identifier) @name)) @definition.struct
(struct_definition (type_head (binary_expression . (_) @name))) @definition.struct
(struct_definition (type_head (parametrized_type_expression . (_) @name))) @definition.struct
(abstract_definition (type_head (identifier) @name)) @definition.type
(abstract_definition (type_head (binary_expression . (_) @name))) @definition.type
(abstract_definition (type_head (parametrized_type_expression . (_) @name))) @definition.type
(primitive_definition (type_head (_) @name)) @definition.type
(function_definition (signature (call_expression . (_) @name (argument_list) @parameters))) @definition.function
(function_definition (signature (_ (call_expression . (_) @name (argument_list) @parameters)))) @definition.function
(function_definition (signature (_ (_ (call_expression . (_) @name (argument_list) @parameters))))) @definition.function
(function_definition (signature (identifier) @name)) @definition.function
(macro_definition (signature (call_expression . (_) @name))) @definition.macro
(source_file (assignment . (call_expression . (_) @name (argument_list) @parameters)) @definition.function)
(source_file (assignment . (_ . (call_expression . (_) @name (argument_list) @parameters))) @definition.function)
(module_definition (assignment . (call_expression . (_) @name (argument_list) @parameters)) @definition.function)
(module_definition (assignment . (_ . (call_expression . (_) @name (argument_list) @parameters))) @definition.function)
(const_statement (assignment . (identifier) @name)) @definition.constant
