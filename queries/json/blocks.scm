; The keys at the top and, one level below, the keys whose value is a list or an
; object: a package in a lock file, a definition in a schema. The objects in a list
; are entries, named by their `name`, `id` or `key`.
; All patterns begin at the root.
(document (object (pair key: (string) @name) @definition.key))
(document (object (pair value: (object (pair key: (string) @name value: [(object) (array)]) @definition.key))))
(document (object (pair value: (array (object) @definition.key @name.entry))))
(document (array (object) @definition.key @name.entry))
