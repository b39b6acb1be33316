; Keys at the top, and one level below them what is a list, a mapping or a text of
; its own: a job of a workflow, a package of a lock file. Items of a list are entries,
; called after their `name`, `id` or `key`.
(document (block_node (block_mapping (block_mapping_pair key: (_) @name) @definition.key)))
(document (flow_node (flow_mapping (flow_pair key: (_) @name) @definition.key)))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping (block_mapping_pair key: (_) @name value: [(block_node) (flow_node [(flow_mapping) (flow_sequence)])]) @definition.key))))))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_sequence (block_sequence_item (block_node (block_mapping))) @definition.key @name.entry))))))
(document (block_node (block_sequence (block_sequence_item (block_node (block_mapping))) @definition.key @name.entry)))
