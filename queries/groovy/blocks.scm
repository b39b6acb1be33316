; Classes and functions, the parts of a build script that configure something
; (`dependencies { … }`, `tasks.register('greet') { … }`), and the stages of a
; pipeline. Such a part is named by all text before its braces.
(class_definition name: (_) @name) @definition.class
(function_definition function: (_) @name) @definition.function
(source_file (assignment . (_) @name) @definition.variable)
(source_file (declaration name: (_) @name) @definition.variable)
(source_file (juxt_function_call args: (argument_list (closure) @name.before)) @definition.statement)
(source_file (function_call args: (argument_list (closure) @name.before)) @definition.statement)
(pipeline (closure) @name.before) @definition.statement
(function_call function: (identifier) @_stage args: (argument_list (closure) @name.before) (#eq? @_stage "stage")) @definition.statement
