"""Boards made up without computing."""

from io import BytesIO

from PIL import Image

from veilmap.reproduction.board import Board, BoardEntry, BoardLine, Finding
from veilmap.sweeping.decision import ClaimOutcome

HOLDS, FAILS, UNDECIDED, UNKNOWN = ClaimOutcome


def make_png(width=320, height=200) -> bytes:
    file = BytesIO()
    Image.new("RGB", (width, height), "#0072b2").save(file, "PNG")
    return file.getvalue()


PICTURES = {name: make_png() for name in ("tab-eps.png", "fig-rate.png", "fig-rate-2.png")}


def make_finding(outcome=HOLDS, under=()) -> Finding:
    return Finding(outcome, "8.5 → 12.4 √m", "-3.94 (-5.7 to -2.1), 5 seeds", dict(under))


def make_line(says, outcome=HOLDS, note="", beside=None, under=()) -> BoardLine:
    here = make_finding(outcome, under)
    return BoardLine(says, "9.6 → 14.5 √m", note, here, beside)


def make_entry(label, title, lines, pictures=(), **fields) -> BoardEntry:
    command = f"veilmap reproduce {label}"
    rest = {"about": "", "runs": 6, "seconds": 90.0, "failed": (), **fields}
    return BoardEntry(
        label=label, title=title, lines=lines, pictures=pictures, command=command, **rest
    )


def make_board(beside="a town", seeds=5) -> Board:
    """Six claims: two hold, two do not, one is undecided, one is not determined; three beside."""
    attacks = {"search": FAILS, "first_layer": UNDECIDED, "heatmap": UNKNOWN}
    eps = (
        make_line("EMD rises with eps", under=attacks.items(), beside=make_finding(FAILS)),
        make_line("fewer points are chosen", FAILS, beside=make_finding(HOLDS)),
        make_line("RMSE is flat", UNDECIDED, "Two tables disagree.", make_finding(HOLDS)),
    )
    rate = (
        make_line("a higher rate diverges", HOLDS),
        make_line("EMD falls with the rate", FAILS),
        make_line("a third cell agrees", UNKNOWN),
    )
    entries = (
        make_entry("fig:where", "Where users measured", ()),
        make_entry("tab:eps", "Diverse Batch by eps", eps, ("tab-eps.png",), about="One week."),
        make_entry(
            "fig:rate", "By the learning rate", rate, ("fig-rate.png", "fig-rate-2.png"),
            runs=1, seconds=5400.0, failed=("the loss became NaN",),
        ),
    )  # fmt: skip
    return Board(entries, "the simulation", beside, seeds, "x86_64, 2 cores", 68_400.0)
