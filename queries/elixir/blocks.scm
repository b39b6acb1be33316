; Attributes such as `@doc` and `@spec` come before the definition and are not part
; of it. Each clause of a function is a block.
(call target: (identifier) @_word (arguments . (alias) @name) (do_block)
  (#eq? @_word "defmodule")) @definition.module
(call target: (identifier) @_word (arguments . (alias) @name) (do_block)
  (#eq? @_word "defprotocol")) @definition.interface
(call target: (identifier) @_word
  (arguments . (alias) @name.trait (keywords (pair key: (keyword) @_for value: (_) @name))) (do_block)
  (#eq? @_word "defimpl") (#match? @_for "^for:")) @definition.impl
(call target: (identifier) @_word (arguments . (alias) @name) (do_block)
  (#eq? @_word "defimpl")) @definition.impl

(call target: (identifier) @_word (arguments . [
    (identifier) @name
    (call target: (identifier) @name (arguments) @parameters)
    (binary_operator left: (identifier) @name operator: "when")
    (binary_operator left: (call target: (identifier) @name (arguments) @parameters) operator: "when")
    (binary_operator left: (binary_operator operator: _ @name) operator: "when")])
  (#any-of? @_word "def" "defp" "defdelegate")) @definition.function
(call target: (identifier) @_word (arguments . (binary_operator operator: _ @name))
  (#any-of? @_word "def" "defp")) @definition.function
(call target: (identifier) @_word (arguments . [
    (identifier) @name
    (call target: (identifier) @name (arguments) @parameters)
    (binary_operator left: (identifier) @name operator: "when")
    (binary_operator left: (call target: (identifier) @name (arguments) @parameters) operator: "when")])
  (#any-of? @_word "defmacro" "defmacrop" "defguard" "defguardp")) @definition.macro

(unary_operator operator: "@"
  operand: (call target: (identifier) @_word (arguments . (binary_operator . [
    (identifier) @name
    (call target: (identifier) @name)])))
  (#any-of? @_word "type" "typep" "opaque")) @definition.type @outside
(unary_operator operator: "@"
  operand: (call target: (identifier) @_word (arguments . (binary_operator
    . (call target: (identifier) @name (arguments) @parameters))))
  (#any-of? @_word "callback" "macrocallback")) @definition.function @outside
(unary_operator operator: "@"
  operand: (call target: (identifier) @name (arguments))
  (#not-any-of? @name
    "doc" "moduledoc" "typedoc" "spec" "type" "typep" "opaque" "callback" "macrocallback"
    "optional_callbacks" "impl" "behaviour" "derive" "enforce_keys" "deprecated" "since"
    "tag" "moduletag" "describetag" "compile" "dialyzer" "before_compile" "after_compile"
    "on_definition" "on_load" "external_resource" "fallback_to_any" "protocol" "vsn")) @definition.constant @outside

; Tests, as written for ExUnit.
(call target: (identifier) @_word (arguments . (string) @name)
  (#any-of? @_word "test" "describe" "property")) @definition.test
