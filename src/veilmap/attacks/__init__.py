"""The honest-but-curious server: reads what it saw, and finds where users were."""
