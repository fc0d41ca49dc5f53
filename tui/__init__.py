"""tui: the terminal debugger over glassllm; importing it imports neither the engine nor the screen."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glassllm import Tensor
    from glassllm.debug.tape import Tape

__all__ = ["debug"]


def debug(made: "Tensor | Tape") -> None:
    """Open the debugger on the graph behind a Tensor, or on what `record()` recorded; return when it is left.

    A breakpoint: `import tui; tui.debug(loss)`. Leaves are called what the caller's variables are called; nothing
    of the caller's is changed. Without a terminal the report goes to stderr instead. In a program that
    `glassllm-tui` runs, it is what is opened when the program has ended. Raises RuntimeError inside a running
    event loop and in other threads than the main one, ValueError for a Tensor that no op made.
    """
    from .breakpoint import open_on

    open_on(made)
