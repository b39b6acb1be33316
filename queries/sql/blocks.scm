; Each statement outside functions is a block, named by its verb and its object:
; `create table orders`. Only statements that create an object define its name.
(statement (create_function
  [(keyword_function) (keyword_exists)] . (object_reference) @name . (function_arguments) @parameters)) @definition.function

(statement (create_table [(keyword_table) (keyword_exists)] . (object_reference) @name) @name.kind) @definition.statement @outside
(statement (create_view [(keyword_view) (keyword_exists)] . (object_reference) @name) @name.kind) @definition.statement @outside
(statement (create_materialized_view [(keyword_view) (keyword_exists)] . (object_reference) @name) @name.kind) @definition.statement @outside
(statement (create_type (keyword_type) . (object_reference) @name) @name.kind) @definition.statement @outside
(statement (create_sequence [(keyword_sequence) (keyword_exists)] . (object_reference) @name) @name.kind) @definition.statement @outside
(statement (create_trigger [(keyword_trigger) (keyword_exists)] . (object_reference) @name) @name.kind) @definition.statement @outside
(statement (create_index column: (_) @name) @name.kind) @definition.statement @outside
(statement (create_schema (identifier) @name) @name.kind) @definition.statement @outside
(statement (create_role (identifier) @name) @name.kind) @definition.statement @outside
(statement (create_database (identifier) @name) @name.kind) @definition.statement @outside
(statement (create_extension (identifier) @name) @name.kind) @definition.statement @outside

(statement . (select) @name.kind . (from (relation (object_reference) @name.object))) @definition.statement @outside
(statement . (delete) @name.kind . (from (object_reference) @name.object)) @definition.statement @outside
(statement (update (relation (object_reference) @name.object)) @name.kind) @definition.statement @outside
(statement (_ (object_reference) @name.object) @name.kind) @definition.statement @outside
(statement . (_) @name.kind) @definition.statement @outside
