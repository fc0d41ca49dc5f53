"""no_grad: stretches of code whose results build no graph."""

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar, cast

from .tensor import set_tracking

F = TypeVar("F", bound=Callable[..., Any])


class no_grad:
    """Context manager and decorator: results of operations made inside have no node and require no grad.

    The state is one module global, not per thread. A decorated generator function is untracked within each
    resumption only, so tracking between two steps is the caller's own.
    """

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> "no_grad":
        self._before.append(set_tracking(False))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        set_tracking(self._before.pop())

    def __call__(self, function: F) -> F:
        wrap = _untracked_generator if inspect.isgeneratorfunction(function) else _untracked_call
        return cast(F, wrap(function))


def _untracked_call(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with no_grad():
            return function(*args, **kwargs)

    return wrapper


def _untracked_generator(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        steps = function(*args, **kwargs)
        resume = functools.partial(next, steps)
        while True:
            with no_grad():
                try:
                    given = resume()
                except StopIteration as stop:
                    return stop.value
            try:
                resume = functools.partial(steps.send, (yield given))
            except GeneratorExit:
                with no_grad():
                    steps.close()
                raise
            except BaseException as error:
                resume = functools.partial(steps.throw, error)

    return wrapper
