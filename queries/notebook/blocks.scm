; The source of each cell, called after the cell's id. Outputs, and what else a
; notebook keeps, are in no block.
(document (object (pair key: (string) @_cells value: (array (object (pair key: (string) @_source) @definition.cell) @name.entry))) (#eq? @_cells "\"cells\"") (#eq? @_source "\"source\""))
