; Patterns for both JavaScript and TypeScript.
; `export` and decorators come before the definition and are not part of it.
(function_declaration name: (identifier) @name parameters: (_) @parameters) @definition.function
(generator_function_declaration name: (identifier) @name parameters: (_) @parameters) @definition.function
(export_statement value: (function_expression parameters: (_) @parameters) @definition.function @name.default)
(export_statement value: (class) @definition.class @name.default)
(method_definition name: (_) @name parameters: (_) @parameters) @definition.method

; `const f = () => {}` at top level is a function.
(program (lexical_declaration . (variable_declarator name: (identifier) @name value: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters) (generator_function parameters: (_) @parameters)])) @definition.function)
(program (export_statement (lexical_declaration . (variable_declarator name: (identifier) @name value: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters) (generator_function parameters: (_) @parameters)])) @definition.function))
(program (variable_declaration . (variable_declarator name: (identifier) @name value: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters)])) @definition.function)

; Functions that are assigned, or are a property of an object or a field of a class: `app.use = function () {}`.
(expression_statement (assignment_expression left: [(member_expression) (identifier)] @name right: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters) (generator_function parameters: (_) @parameters)])) @definition.function
(assignment_expression right: (assignment_expression left: [(member_expression) (identifier)] @name right: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters) (generator_function parameters: (_) @parameters)]) @definition.function)
(expression_statement (assignment_expression left: (member_expression) @name right: (class))) @definition.class
(pair key: (_) @name value: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters) (generator_function parameters: (_) @parameters)]) @definition.method

; Functions with a name inside other functions.
(statement_block (lexical_declaration . (variable_declarator name: (identifier) @name value: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters) (generator_function parameters: (_) @parameters)])) @definition.function)
(statement_block (export_statement (lexical_declaration . (variable_declarator name: (identifier) @name value: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters) (generator_function parameters: (_) @parameters)])) @definition.function))
(statement_block (variable_declaration . (variable_declarator name: (identifier) @name value: [
  (arrow_function parameters: (_)? @parameters) (function_expression parameters: (_) @parameters)])) @definition.function)

(program (lexical_declaration kind: "const" . (variable_declarator name: (_) @name)) @definition.constant)
(program (export_statement (lexical_declaration kind: "const" . (variable_declarator name: (_) @name)) @definition.constant))
(program (lexical_declaration kind: "let" . (variable_declarator name: (_) @name)) @definition.variable)
(program (export_statement (lexical_declaration kind: "let" . (variable_declarator name: (_) @name)) @definition.variable))
(program (variable_declaration . (variable_declarator name: (_) @name)) @definition.variable)
(program (export_statement (variable_declaration . (variable_declarator name: (_) @name)) @definition.variable))

; Tests, as written for the usual test runners.
(expression_statement
  (call_expression
    function: (identifier) @_runner
    arguments: (arguments . (string) @name . (_)))
  (#any-of? @_runner "describe" "context" "suite" "it" "test")) @definition.test
