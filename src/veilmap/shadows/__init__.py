"""Shadow people, whose phones run the same defence, and the attacker trained on them."""
