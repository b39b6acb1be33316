; The keys at the top and, one level below, the keys whose value is a list, a mapping or
; a block of text: a job in a workflow, a package in a lock file. The mappings in a list
; are entries, named by their `name`, `id` or `key`.
(document (block_node (block_mapping (block_mapping_pair key: (_) @name) @definition.key)))
(document (flow_node (flow_mapping (flow_pair key: (_) @name) @definition.key)))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping (block_mapping_pair key: (_) @name value: [(block_node) (flow_node [(flow_mapping) (flow_sequence)])]) @definition.key))))))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_sequence (block_sequence_item (block_node (block_mapping))) @definition.key @name.entry))))))
(document (block_node (block_sequence (block_sequence_item (block_node (block_mapping))) @definition.key @name.entry)))
