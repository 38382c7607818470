"""Which clock people go by."""
