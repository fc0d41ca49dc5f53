"""Who holds the engine and what waits for it, in the few words of a header; nothing where nobody works long."""

from tui.engine import Activity
from tui.messages import Request

STATISTICS = "statistics"
LONG = ("train run", "train step", "generate write")


def holding(activity: Activity, ended: Request | None = None) -> str:
    """`engine train run   waits next`; `ended` is known to have come to its end, whatever the engine says yet."""
    if activity.running in (None, ended) or not any(map(is_long, (activity.running, *activity.waiting))):
        return ""
    waiting = ", ".join(str(request) for request in activity.waiting if not is_quiet(request))
    return f"engine {activity.running}" + (f"   waits {waiting}" if waiting else "")


def is_long(request: Request) -> bool:
    return request.name in LONG


def is_quiet(request: Request) -> bool:
    return request.name == STATISTICS
