; The functions and values of a file, the classes and generics that are defined by
; calls, and the methods of an R6 class.
(program (binary_operator lhs: [(identifier) @name (string (string_content) @name)] operator: ["<-" "=" "<<-"] rhs: (function_definition)) @definition.function)
(program (binary_operator lhs: (identifier) @name operator: ["<-" "="] rhs: (call function: [(identifier) (namespace_operator)] @_class)) @definition.class (#match? @_class "^(R6::)?R6Class$|^setRefClass$"))
(program (binary_operator lhs: [(identifier) @name (string (string_content) @name)] operator: ["<-" "=" "<<-"]) @definition.variable)
(program (binary_operator rhs: (call function: [(identifier) (namespace_operator)] @_class arguments: (arguments (argument value: (call arguments: (arguments (argument name: (identifier) @name value: (function_definition)) @definition.method))))) (#match? @_class "^(R6::)?R6Class$|^setRefClass$")))
(program (call function: (identifier) @_class arguments: (arguments . (argument value: (string (string_content) @name)))) @definition.class (#match? @_class "^set(Ref)?Class$"))
(program (call function: (identifier) @_generic arguments: (arguments . (argument value: (string (string_content) @name)))) @definition.function (#match? @_generic "^set(Generic|Method|Validity)$"))
(program (call function: [(identifier) (namespace_operator)] @_test arguments: (arguments . (argument value: (string (string_content) @name)))) @definition.test (#match? @_test "^(testthat::)?(test_that|describe)$"))
