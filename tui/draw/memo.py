"""Answers about an array that never changes, worked out once while it lives."""

import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Concatenate, ParamSpec, TypeVar

from tui.draw.numbers import Array

Rest = ParamSpec("Rest")
Answer = TypeVar("Answer")
Key = tuple[Hashable, ...]
KEPT = 64  # answers a function remembers


def once_per_array(
    function: Callable[Concatenate[Array, Array | None, Rest], Answer],
) -> Callable[Concatenate[Array, Array | None, Rest], Answer]:
    """Decorator: remember answers by which array and mask they are about, not by what these hold.

    Both are held weakly, so an answer is good while they live; all else must be hashable.
    """
    known: OrderedDict[Key, tuple[list[weakref.ref[Array]], Answer]] = OrderedDict()

    def remembered(array: Array, masked: Array | None, /, *rest: Rest.args, **named: Rest.kwargs) -> Answer:
        about = [array] if masked is None else [array, masked]
        key: Key = (*map(id, about), masked is None, *rest, *named.items())
        found = known.get(key)
        if found is not None and all(ref() is given for ref, given in zip(found[0], about, strict=True)):
            return found[1]
        answer = function(array, masked, *rest, **named)
        known[key] = ([weakref.ref(given) for given in about], answer)
        known.move_to_end(key)
        if len(known) > KEPT:
            known.popitem(last=False)
        return answer

    return remembered
