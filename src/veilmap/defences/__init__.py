"""What a phone does before it sends, one step per file."""
