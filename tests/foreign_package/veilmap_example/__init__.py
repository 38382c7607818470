"""A package of somebody else's, one method per file."""
