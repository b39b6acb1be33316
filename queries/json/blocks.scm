; Keys at the top, and one level below them what is a list or an object itself:
; a package of a lock file, a definition of a schema. Elements of a list are
; entries, called after their `name`, `id` or `key`.
; All patterns begin at the root.
(document (object (pair key: (string) @name) @definition.key))
(document (object (pair value: (object (pair key: (string) @name value: [(object) (array)]) @definition.key))))
(document (object (pair value: (array (object) @definition.key @name.entry))))
(document (array (object) @definition.key @name.entry))
