"""One trial, many views: what is run, what came of it, and where it is kept."""
