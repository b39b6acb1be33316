(module name: (_) @name) @definition.module
(class name: (_) @name) @definition.class
(singleton_class value: (_) @name) @definition.class

; `def self.load` in `Order` is named `Order.self.load`.
(singleton_method object: (_) @scope name: (_) @name) @definition.method
(program (method name: (_) @name) @definition.function)
(method name: (_) @name) @definition.method

(assignment left: (constant) @name) @definition.constant
(program (assignment left: [(identifier) (global_variable)] @name) @definition.variable)

; Tests, as written for the usual test runners.
(call
  method: (identifier) @_runner
  arguments: (argument_list . [(string) (constant) (scope_resolution)] @name)
  block: (_)
  (#any-of? @_runner "describe" "context" "it" "specify" "example" "feature" "scenario" "shared_examples" "test" "should")) @definition.test
