; The root element and two levels of elements below it. An element is named by its tag,
; and by the `name`, `id` or `key` attribute of the tag.
(document root: (element [(STag (Name) @name) (EmptyElemTag (Name) @name)] @name.entry) @definition.key)
(document root: (element (content (element [(STag (Name) @name) (EmptyElemTag (Name) @name)] @name.entry) @definition.key)))
(document root: (element (content (element (content (element [(STag (Name) @name) (EmptyElemTag (Name) @name)] @name.entry) @definition.key)))))
