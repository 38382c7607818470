"""The error that ends a round without an update."""

from veilmap.errors import UserError


class RoundError(UserError):
    """A step that would reveal more than the sum, or that cannot compute the sum.

    The round ends without an update, and the next one starts with new keys.
    """
