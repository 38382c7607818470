"""One HTML file that needs nothing else, not even a network."""

from collections.abc import Sequence
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from veilmap.report.frame.assets import frame
from veilmap.report.frame.policy import policy


def framed(
    template: str, style: str, scripts: Sequence[str], *, tiles: str | None = None, **content: Any
) -> str:
    """The page as text; every string of the content is escaped.

    Args:
        template: fills the blocks of ``frame.html.jinja``.
        style: all of it.
        scripts: in their order.
        tiles: a URL template; the page may fetch images from its server. None fetches nothing.
        content: what the template shows; ``title`` and ``kind`` stand in the frame.
    """
    environment = Environment(
        loader=DictLoader({"frame": frame(), "page": template}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page").render(
        **content,
        policy=policy(scripts, [style], tiles),
        # Our own files, not data.
        style=Markup(style),  # noqa: S704
        scripts=[Markup(each) for each in scripts],  # noqa: S704
    )
