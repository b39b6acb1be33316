"""What `editors/test/run` is made of: who is driven, on what machine, what came of it, and the pictures."""
