"""Whether a bound on the home error can be met at all, known before anything is trained."""

from math import floor

from veilmap.auditing.plan import AuditPlan
from veilmap.errors import UserError
from veilmap.metrics.places import find_places
from veilmap.metrics.recall import home_error_m
from veilmap.metrics.scores import true_places
from veilmap.wording import counted


def refuse_unreachable(plan: AuditPlan) -> None:
    """Raise if a blind guess, the middle of the area, violates the bound for every target."""
    least_m = plan.settings.audit.min_home_error_m
    if least_m is None:
        return
    errors_m = {
        name: error_m
        for name, user in zip(plan.names, plan.targets, strict=True)
        if (error_m := _blind_error_m(plan, user)) is not None
    }
    if not errors_m or max(errors_m.values()) >= least_m:
        return
    farthest = max(errors_m, key=errors_m.__getitem__)
    whose = f"the home of user {farthest}"
    if len(errors_m) > 1:
        whose += f", the farthest of {counted(len(errors_m), 'user')}"
    raise UserError(
        f"no configuration can keep a home error of at least {least_m:,.0f} m: a blind guess, the "
        f"middle of the area, is {errors_m[farthest]:,.0f} m from {whose}; give --min-home-error "
        f"{floor(errors_m[farthest])} or less"
    )


def _blind_error_m(plan: AuditPlan, user: str) -> float | None:
    """Of the rounds that are attacked; None for a target without any."""
    rounds = [this.data[user] for this in plan.prepared.rounds if user in this.data]
    attacked = rounds[:: plan.settings.audit.every]
    if not attacked:
        return None
    middle = find_places(plan.prepared.plan.area.centre_m.reshape(1, 2))
    return home_error_m(true_places(attacked, plan.data.timezone), middle)
