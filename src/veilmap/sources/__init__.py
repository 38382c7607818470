"""Where measurements come from: files with any column names, and simulated worlds."""

from veilmap.sources.reader import read, scan

__all__ = ["read", "scan"]
