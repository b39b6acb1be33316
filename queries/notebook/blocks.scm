; The source of each cell, named by the cell's id. Outputs and all other data in a
; notebook belong to no block.
(document (object (pair key: (string) @_cells value: (array (object (pair key: (string) @_source) @definition.cell) @name.entry))) (#eq? @_cells "\"cells\"") (#eq? @_source "\"source\""))
