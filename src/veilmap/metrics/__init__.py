"""How far what the attacker found is from where the user was."""
