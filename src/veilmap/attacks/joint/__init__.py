"""Where a user was, from the messages of all rounds and all towers together."""
