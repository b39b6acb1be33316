; A rule is named by its selectors, and an at-rule by all text before its block.
(rule_set (block) @name.before) @definition.rule
(media_statement (block) @name.before) @definition.rule
(supports_statement (block) @name.before) @definition.rule
(scope_statement (block) @name.before) @definition.rule
(at_rule (block) @name.before) @definition.rule
(keyframes_statement (keyframe_block_list) @name.before) @definition.rule
