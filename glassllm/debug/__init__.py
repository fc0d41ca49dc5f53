"""The debugger without a screen: recording, stepping, explaining.

`with debug.record() as tape:` records what is computed inside; `with debug.scope("encoder"):` names a part of it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glassllm.trace import scope as scope

    from .recorder import record as record

__all__ = ["record", "scope"]


def __getattr__(name: str) -> Any:
    """The two names, imported when they are first asked for."""
    if name == "record":
        from .recorder import record

        return record
    if name == "scope":
        from glassllm.trace import scope

        return scope
    raise AttributeError(f"module {__name__} has no attribute {name}")
