"""The one error whose text a node sends to the server."""


class RefusalError(Exception):
    """The node does not answer; the text says which demand was not met and nothing of its data."""
