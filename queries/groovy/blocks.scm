; Classes and functions; of a build script what is configured: `dependencies { … }`,
; `tasks.register('greet') { … }`, and the stages of a pipeline. Those are called
; after all that stands before the braces.
(class_definition name: (_) @name) @definition.class
(function_definition function: (_) @name) @definition.function
(source_file (assignment . (_) @name) @definition.variable)
(source_file (declaration name: (_) @name) @definition.variable)
(source_file (juxt_function_call args: (argument_list (closure) @name.before)) @definition.statement)
(source_file (function_call args: (argument_list (closure) @name.before)) @definition.statement)
(pipeline (closure) @name.before) @definition.statement
(function_call function: (identifier) @_stage args: (argument_list (closure) @name.before) (#eq? @_stage "stage")) @definition.statement
