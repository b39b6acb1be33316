; Each equation of a function is a block, and so is the type signature before them.
(function name: [(variable) @name (prefix_id (_) @name)]) @definition.function
(function (infix operator: [(operator) @name (infix_id (_) @name)])) @definition.function
(declarations (bind name: (_) @name match: (match expression: (literal))) @definition.constant)
(declarations (bind name: (_) @name) @definition.function)
(class_declarations (bind name: (_) @name) @definition.method)
(instance_declarations (bind name: (_) @name) @definition.method)
(declarations (bind pattern: (_) @name) @definition.variable)
(declarations (signature name: [(variable) @name (prefix_id (_) @name)]) @definition.type)
(class_declarations (signature name: [(variable) @name (prefix_id (_) @name)]) @definition.method)
(declarations (signature names: (_) @name) @definition.type)
(class_declarations (signature names: (_) @name) @definition.method)
(declarations (pattern_synonym (equation synonym: (apply function: (_) @name))) @definition.function)
(declarations (foreign_import (signature name: (_) @name)) @definition.function)

(data_type name: (_) @name) @definition.type
(newtype name: (_) @name) @definition.type
(type_synonym name: (_) @name) @definition.type
(type_family name: (_) @name) @definition.type
(data_family name: (_) @name) @definition.type
(class name: (_) @name) @definition.class
(instance name: (_) @name.trait patterns: (_) @name) @definition.impl
(deriving_instance name: (_) @name.trait patterns: (_) @name) @definition.impl
