"""The attack that recovers a whole distribution of places by least squares over a grid."""
