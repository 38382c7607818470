"""Pictures of what the attacks found, beside the truth where it is known."""
