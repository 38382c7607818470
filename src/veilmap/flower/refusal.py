"""The one error whose text a node sends to the server."""


class RefusalError(Exception):
    """The node does not answer; the text says which requirement was not met and reveals no data."""
