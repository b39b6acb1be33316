(function_statement (function_name) @name) @definition.function
(class_statement . (simple_name) @name) @definition.class
(class_method_definition (simple_name) @name (class_method_parameter_list)? @parameters) @definition.method
(enum_statement . (simple_name) @name) @definition.enum
(program (statement_list (pipeline (assignment_expression (left_assignment_expression) @name)) @definition.variable))
