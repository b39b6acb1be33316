; The root element, what it holds, and one level below that; called after the tag,
; and after the `name`, `id` or `key` that the tag has.
(document root: (element [(STag (Name) @name) (EmptyElemTag (Name) @name)] @name.entry) @definition.key)
(document root: (element (content (element [(STag (Name) @name) (EmptyElemTag (Name) @name)] @name.entry) @definition.key)))
(document root: (element (content (element (content (element [(STag (Name) @name) (EmptyElemTag (Name) @name)] @name.entry) @definition.key)))))
