"""What a comparison of maps means, in sentences."""

from collections.abc import Iterator, Sequence

from veilmap.map_quality.noise_floor import NoiseFloor
from veilmap.map_quality.summary import Summary, best_of
from veilmap.metrics.baselines import is_no_better

NAMES = {
    "constant": "constant",
    "linear": "linear",
    "k_nn": "k-NN",
    "random_forest": "random forest",
    "gradient_boosting": "gradient boosting",
    "central_kriging": "central kriging",
}
_NEAR_BEST = 0.95  # a share of the best skill that more tuning hardly raises
_NEAR_FLOOR = 1.1  # a best map's RMSE over the noise floor's
_RMSE, _SKILL, _SHARE = "rmse_by_place_db", "skill_by_place", "share_of_best"


def called(summary: Summary) -> str:
    """The predictor as sentences and tables name it."""
    name = summary.predictor
    return f"federated {name}" if summary.kind == "federated" else NAMES.get(name, name)


def narrative(summaries: Sequence[Summary], floor: NoiseFloor | None) -> Iterator[str]:
    """The best centralised map, what limits it, and each federated map beside it."""
    constant_db = next(each.mean(_RMSE) for each in summaries if each.kind == "baseline")
    best = best_of(summaries, "central")
    if best is not None and is_no_better(best.mean(_RMSE), constant_db):
        best = None
    if best is None:
        yield (
            "No centralised predictor is better than the constant: these data do not show where "
            "the signal is strong. Measure at more places, or choose another cell."
        )
    else:
        skill = best.mean(_SKILL) or 0
        yield f"The best centralised map is {called(best)}, with a skill by place of {skill:.2f}."
        yield from _limit(best, floor)
    federated = [each for each in summaries if each.kind == "federated"]
    leader = best_of(summaries, "federated")
    is_leading = leader is not None and not is_no_better(leader.mean(_RMSE), constant_db)
    for each in federated:
        if leader is not None and each is not leader and is_leading:
            yield _beside(each, leader, constant_db)
        else:
            yield _alone(each, best, constant_db)


def _limit(best: Summary, floor: NoiseFloor | None) -> Iterator[str]:
    rmse_db = best.mean(_RMSE)
    if floor is None or rmse_db is None:
        return
    if rmse_db <= _NEAR_FLOOR * floor.rmse_by_place_db:
        yield (
            f"Its RMSE by place, {rmse_db:.1f} dB, is about the noise floor, "
            f"{floor.rmse_by_place_db:.1f} dB: expect no better map of these data."
        )
    else:
        yield (
            f"Its RMSE by place, {rmse_db:.1f} dB, is above the noise floor, "
            f"{floor.rmse_by_place_db:.1f} dB: measurements at more places would help."
        )


def _beside(summary: Summary, leader: Summary, constant_db: float | None) -> str:
    """A federated map where another is better."""
    if is_no_better(summary.mean(_RMSE), constant_db):
        means = "is no better than the constant"
    else:
        means = f"has a skill by place of {summary.mean(_SKILL) or 0:.2f}"
    better = f"{called(leader)} has {leader.mean(_SKILL) or 0:.2f}"
    return f"The {called(summary)} {means}; {better}."


def _alone(summary: Summary, best: Summary | None, constant_db: float | None) -> str:
    """The best of the federated maps, beside the constant and the best centralised map."""
    name, share = called(summary), summary.mean(_SHARE)
    if is_no_better(summary.mean(_RMSE), constant_db):
        means = f"The {name} is no better than the constant"
        if best is None:
            return f"{means} either."
        return f"{means}, and {called(best)} is: choose another kind of map with --maps."
    if best is None or share is None:
        return f"The {name} is better than the constant."
    if share >= _NEAR_BEST:
        return f"The {name} is as good as the best centralised map ({share:.0%} of its skill)."
    return (
        f"The {name} reaches {share:.0%} of that skill: smaller squares, more of them in a message "
        "or another kind of map may bring it nearer."
    )
