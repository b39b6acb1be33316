"""The parts of `editors/test/run`: the clients, the machine, the results and the pictures."""
