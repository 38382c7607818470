"""Many runs from one file: a grid of settings, its figures, its claims and its pictures."""
