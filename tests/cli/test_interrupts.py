"""What Ctrl-C says at an unlucky moment."""

import sys
from types import SimpleNamespace

import pytest

from veilmap import cli
from veilmap.cli import app


@pytest.mark.parametrize(("kind", "lines"), [(KeyboardInterrupt, 0), (ValueError, 1)])
def test_an_interrupt_in_a_destructor_is_not_printed(monkeypatch, kind, lines):
    printed = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    monkeypatch.setattr(
        app, "run", lambda words: sys.unraisablehook(SimpleNamespace(exc_type=kind))
    )
    cli.main([])
    assert len(printed) == lines
    assert sys.unraisablehook == printed.append
