"""Names for the Tensors of a user's program: those of the variables that hold them.

A variable, or one level deep in it: the items of a list or a dict, the attributes of an object, the parameters
of a Module.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import FrameType, FunctionType, ModuleType
from typing import Any

from glassllm.autograd.tensor import Tensor
from glassllm.nn import Module

MOST_ITEMS = 10_000  # of one variable that are looked at


class Names(dict[str, Tensor]):
    """Tensors by name; the first name found for a Tensor stands, the second of one name gets its function's."""

    def __init__(self) -> None:
        super().__init__()
        self._named: set[Tensor] = set()

    def add(self, variables: Mapping[str, Any], function: str = "") -> None:
        """Name what these variables hold."""
        for variable, value in list(variables.items()):
            if not variable.startswith("_"):
                for names, tensor in tensors_in(variable, value):
                    self._add([*names, f"{function}.{names[-1]}"], tensor)

    def _add(self, names: Sequence[str], tensor: Tensor) -> None:
        name = next((name for name in names if name not in self), None)
        if name is not None and tensor not in self._named:
            self[name] = tensor
            self._named.add(tensor)


def tensors_in(name: str, value: Any) -> Iterator[tuple[list[str], Tensor]]:
    """The Tensors of a variable, each with the names it may have, the shortest first."""
    if isinstance(value, Tensor):
        yield [name], value
        return
    for part, item in _parts(value):
        within = name if name != "self" else ""
        whole = f"{within}.{part}" if within else part
        if isinstance(item, Tensor):
            yield [part, whole] if isinstance(value, Module) else [whole], item
        elif isinstance(item, Module):
            for path, tensor in item.named_parameters().items():
                yield [f"{whole}.{path}"], tensor


def _parts(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Module):
        return value.named_parameters().items()
    if isinstance(value, (list, tuple)):
        return ((str(i), item) for i, item in enumerate(islice(value, MOST_ITEMS)))
    if isinstance(value, dict):
        return [(key, item) for key, item in islice(value.items(), MOST_ITEMS) if isinstance(key, str)]
    if isinstance(value, (ModuleType, FunctionType, type)) or not type(value).__dictoffset__:
        return ()
    return list(islice(vars(value).items(), MOST_ITEMS))


def names_in(frames: Sequence[FrameType], variables: Mapping[str, Any] | None = None) -> Names:
    """Names from a program's global `variables`, then from the frames (innermost first) seen from outside."""
    names = Names()
    names.add(variables or {})
    for frame in reversed(frames):
        if frame.f_locals is not variables:
            names.add(frame.f_locals, frame.f_code.co_name)
    return names
