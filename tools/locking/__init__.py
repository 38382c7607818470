"""What ``tools/lock.py`` is made of."""
