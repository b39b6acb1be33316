(document (block_node (block_mapping (block_mapping_pair key: (_) @name) @definition.key)))
(document (flow_node (flow_mapping (flow_pair key: (_) @name) @definition.key)))
