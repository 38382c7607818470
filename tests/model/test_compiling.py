from veilmap.model import compiling


def test_where_nothing_can_be_kept_the_steps_are_compiled_all_the_same(monkeypatch):
    """As in a read-only installation of somebody without a home."""

    def nowhere(*, cache=False, **rest):
        if cache:
            raise RuntimeError("no locator available")
        return lambda function: ("compiled", function)

    monkeypatch.setattr(compiling, "njit", nowhere)
    assert compiling.compiled(len) == ("compiled", len)
