"""Which points belong together: exact DBSCAN at scale, and what becomes of its noise."""
