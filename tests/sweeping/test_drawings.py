import pytest

from tests.map_figures import map_figures
from veilmap.experiments.result import TrialResult
from veilmap.metrics.rows import TrialRow
from veilmap.metrics.scores import Scores
from veilmap.sweeping.drawings import Drawings
from veilmap.sweeping.pictures import picture_of
from veilmap.sweeping.spec import Data, Spec
from veilmap.sweeping.spec_result import SpecResult

NUMBERS = ({"eps_m": 1, "emd_paper": 9.61, "diverged_share": 0.18},)
SPEC = Spec("tab:x", "By eps", "", Data(), (), NUMBERS)


def run_of(eps_m, seed, emd_paper, attack="dlg"):
    scores = Scores(1, emd_paper=emd_paper, emd_random_paper=20.0, diverged_share=0.25)
    name, figures = f"fedavg + diverse:eps_m={eps_m}", map_figures(5.0 + seed)
    row = TrialRow(name, attack, "u0", seed, figures, scores=scores)
    return {"name": "Diverse", "eps_m": eps_m}, TrialResult("fedavg", seed, (row,))


FIGURES = SpecResult(
    (run_of(1, 0, 7.0), run_of(1, 1, 9.0), run_of(50, 0, 12.0), run_of(50, 1, 14.0))
)


def drawn(found=FIGURES, **picture):
    # Only maps ask the cohort for the target and the area.
    return Drawings(None, SPEC, found, "dlg").draw(picture_of(picture))


def points_of(axes):
    """The marks of all lines, as drawn."""
    return [tuple(line.get_ydata()) for line in axes.get_lines()]


def test_a_line_goes_through_the_means_over_the_seeds_and_the_paper_s_number_stands_there_too():
    axes = drawn(kind="lines", x="eps_m", figures=["emd_paper"], reference="emd_random_paper").axes[
        0
    ]
    assert (8.0, 13.0) in points_of(axes)
    assert any(9.61 in each for each in points_of(axes))
    assert any(set(each) == {20.0} for each in points_of(axes))  # random guesses
    assert axes.get_ylabel() == "EMD, √m"
    assert axes.get_xlabel() == "eps, m"


def test_shares_are_drawn_in_per_cent_as_the_axis_says():
    axes = drawn(kind="lines", x="eps_m", figures=["diverged_share"]).axes[0]
    assert (25.0, 25.0) in points_of(axes)
    assert axes.get_ylabel() == "diverged, %"


def test_there_is_one_panel_for_each_figure_that_some_run_has():
    figure = drawn(kind="lines", x="eps_m", figures=["emd_paper", "distance_m", "rmse_db"])
    assert [axes.get_ylabel() for axes in figure.axes] == ["EMD, √m", "RMSE, dB"]


def test_with_keys_for_panels_the_figures_are_lines_of_one_panel_each():
    figure = drawn(
        kind="lines", x="seed", panel_keys=["eps_m"], figures=["emd_paper", "emd_random_paper"]
    )
    assert [axes.get_title() for axes in figure.axes] == ["1", "50"]
    assert [points_of(axes)[::2] for axes in figure.axes] == [
        [(7.0, 9.0), (20.0, 20.0)],
        [(12.0, 14.0), (20.0, 20.0)],
    ]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[:2] == ["EMD", "EMD of random guesses"]


def test_a_bar_ends_at_the_mean():
    axes = drawn(kind="bars", figures=["emd_paper"], groups=["eps_m"]).axes[0]
    ends = {round(bar.get_height(), 6) for bar in axes.patches} | {
        round(bar.get_width(), 6) for bar in axes.patches
    }
    assert {8.0, 13.0} <= ends


def test_a_tradeoff_has_a_panel_for_each_figure_of_privacy():
    figure = drawn(kind="tradeoff", figures=["emd_paper", "diverged_share"])
    assert len(figure.axes) == 2


@pytest.mark.parametrize("kind", ["lines", "bars", "tradeoff", "path"])
def test_without_figures_nothing_is_drawn(kind):
    needed = {"lines": {"x": "eps_m"}, "bars": {}, "tradeoff": {}, "path": {}}[kind]
    figures = {} if kind == "path" else {"figures": ["emd_paper"]}
    run = TrialResult("fedavg", 0, failed="diverged")
    failed = SpecResult((({"name": "Diverse", "eps_m": 1}, run),))
    assert drawn(failed, kind=kind, **needed, **figures) is None
