(message (message_name) @name) @definition.struct
(enum (enum_name) @name) @definition.enum
(extend (full_ident) @name) @definition.impl
(service (service_name) @name) @definition.interface
(rpc (rpc_name) @name) @definition.method
