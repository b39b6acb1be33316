; A block is named by its type and labels: `resource "aws_instance" "web"`. Each
; local value is a variable.
(config_file (body (attribute (identifier) @name) @definition.key))
(config_file (body (block (block_start) @name.before) @definition.statement))
(config_file (body (block (identifier) @_type (body (attribute (identifier) @name) @definition.variable)) (#eq? @_type "locals")))
