from veilmap.attacks import compiled


def test_where_nothing_can_be_kept_the_steps_are_compiled_all_the_same(monkeypatch):
    """As in a read-only installation of somebody without a home."""

    def nowhere(*, cache=False, **rest):
        if cache:
            raise RuntimeError("no locator available")
        return lambda function: ("compiled", function)

    monkeypatch.setattr(compiled, "njit", nowhere)
    assert compiled.compiled(len) == ("compiled", len)
