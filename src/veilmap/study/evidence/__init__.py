"""What an attack starts from: what the server saw, and the truth where it is known."""
