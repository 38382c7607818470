"""``veilmap flower``: the same federation on real machines."""
