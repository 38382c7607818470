"""How good a map of some data can be, and how good ours is."""
