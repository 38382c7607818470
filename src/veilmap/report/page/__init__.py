"""The audit's report: one HTML file that opens from disk, with a map, charts and tables."""
