"""glassllm: a small language model and autograd engine in plain NumPy, built to be looked into."""

from typing import TYPE_CHECKING, Any

from .autograd import Tensor, no_grad
from .config import Config
from .model import GlassLM
from .tokenizer import Tokenizer
from .trace import STEPS, Tracer

__version__ = "0.1.0"
__all__ = ["STEPS", "Config", "GlassLM", "Tensor", "Tokenizer", "Tracer", "no_grad"]

if TYPE_CHECKING:
    from . import debug as debug


def __getattr__(name: str) -> Any:
    """`glassllm.debug`, imported when it is first asked for."""
    if name != "debug":
        raise AttributeError(f"module {__name__} has no attribute {name}")
    from importlib import import_module

    return import_module(".debug", __name__)
