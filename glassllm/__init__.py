"""glassllm: a small language model and autograd engine in plain NumPy, built to be looked into."""

from .autograd import Tensor, no_grad
from .config import Config
from .model import GlassLM
from .tokenizer import Tokenizer
from .trace import STEPS, Tracer

__version__ = "0.1.0"
__all__ = ["STEPS", "Config", "GlassLM", "Tensor", "Tokenizer", "Tracer", "no_grad"]
