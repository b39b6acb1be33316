(rule (targets) @name) @definition.rule
(variable_assignment name: (_) @name) @definition.variable
(shell_assignment name: (_) @name) @definition.variable
(define_directive name: (_) @name) @definition.macro
