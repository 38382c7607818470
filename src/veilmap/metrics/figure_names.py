"""What figures are called where people read them, with their units."""

from dataclasses import dataclass

# By which a report, a table and a claim say how near the server comes to home.
HOME_ERROR = "home_error_m"
EMD = "emd_paper"
# What a comparison of runs shows first.
MAIN = (
    "rmse_db",
    "skill_by_place",
    EMD,
    "diverged_share",
    "distance_m",
    HOME_ERROR,
)

# Of iterative attacks only, or defined differently by each attack.
OF_DLG = frozenset({"iterations", "cosine", "cosine_least"})
# The same under every attack.
OF_NO_ATTACK = frozenset(
    {
        "rmse_db",
        "rmse_by_place_db",
        "skill_by_place",
        "share_of_central",
        "rmse_past_db",
        "rmse_past_gap_db",
        "points",
        "points_share",
        "points_std_m",
        "norm",
        "small_share",
        "measurements",
        "rounds",
        "user_emd",
    }
)


@dataclass(frozen=True)
class FigureName:
    """A figure in words: its name, its unit, how its numbers are written, and its name in short."""

    words: str
    unit: str = ""
    spec: str = ",.2f"
    factor: float = 1.0
    short: str = ""

    @property
    def label(self) -> str:
        """For an axis: ``EMD, √m``."""
        return f"{self.words}, {self.unit}" if self.unit else self.words

    @property
    def head(self) -> str:
        """The same for a column of a terminal."""
        words = self.short or self.words
        return f"{words}, {self.unit}" if self.unit else words

    def text(self, value: float | None) -> str:
        """The number without its unit; a dash if there is none."""
        return "-" if value is None else format(self.factor * value, self.spec)


_NAMES = {
    EMD: FigureName("EMD", "√m", ".1f"),
    "emd_random_paper": FigureName("EMD of random guesses", "√m", ".1f"),
    "user_emd": FigureName("EMD between users", "√m", ".1f"),
    "emd_m": FigureName("EMD", "m", ",.0f"),
    "distance_m": FigureName("distance from the centroid", "m", ",.0f", short="off"),
    "distance_most_m": FigureName("distance at worst", "m", ",.0f"),
    HOME_ERROR: FigureName("distance from home", "m", ",.0f", short="home"),
    "diverged_share": FigureName("diverged", "%", ".0f", 100.0),
    "rmse_db": FigureName("RMSE", "dB"),
    "rmse_by_place_db": FigureName("RMSE by place", "dB"),
    "skill_by_place": FigureName("skill by place", short="skill"),
    "share_of_central": FigureName(
        "share of the central map's skill", "%", ".0f", 100.0, "central"
    ),
    "rmse_past_db": FigureName("RMSE on earlier rounds", "dB"),
    "rmse_past_gap_db": FigureName("RMSE on earlier rounds, less that on test data", "dB"),
    "iterations": FigureName("DLG iterations", "", ",.0f"),
    "points": FigureName("points in a round", "", ",.0f"),
    "points_share": FigureName("points chosen", "%", ".2f", 100.0),
    "points_std_m": FigureName("standard deviation of a coordinate", "m", ",.0f"),
    "rounds": FigureName("rounds", "", ",.0f"),
    "cosine": FigureName("cosine", "", ".4f"),
    "cosine_least": FigureName("least cosine", "", ".4f"),
    "norm": FigureName("norm of the update", "", ".3g"),
    "small_share": FigureName("elements below 1e-4", "%", ".1f", 100.0),
    "share_below": FigureName("share of elements below", "%", ".0f", 100.0),
    # Keys along which figures run.
    "eps_m": FigureName("eps", "m"),
    "rate": FigureName("learning rate η"),
    "B": FigureName("mini-batch size B"),
    "E": FigureName("local epochs E"),
    "T": FigureName("duration T of a round"),
    "round": FigureName("round"),
    "decade": FigureName("power of ten"),
}


def figure_name(figure: str) -> FigureName:
    """In words; a figure without a name of its own is called as in the rows."""
    return _NAMES.get(figure, FigureName(figure, spec=".4g"))
