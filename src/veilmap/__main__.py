"""``python -m veilmap``."""

from veilmap.cli import main

main()
