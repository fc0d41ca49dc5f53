"""Sequences whose items are put together when they are asked for: however many there are, they cost nothing."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class ByNumber(Sequence[T_co]):
    """A sequence by its length and `at`."""

    @abstractmethod
    def at(self, i: int) -> T_co:
        """The item of a number from 0 to the length."""

    @overload
    def __getitem__(self, i: int) -> T_co: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[T_co]: ...
    def __getitem__(self, i: int | slice) -> T_co | Sequence[T_co]:
        if isinstance(i, slice):
            return [self.at(k) for k in range(*i.indices(len(self)))]
        return self.at(i if 0 <= i < len(self) else range(len(self))[i])
