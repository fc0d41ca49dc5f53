"""The words that `glassllm-tui train` and `glassllm-tui generate` take.

Nothing here imports numpy or textual.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path

from tui.usage import PROGRAM, Parser, refuse

MOST = 10**9


def whole(lowest: int, highest: int = MOST) -> Callable[[str], int]:
    """A whole number in a range, as argparse reads it."""

    def read(text: str) -> int:
        is_number = text.isascii() and text.removeprefix("-").isdigit() and len(text) <= 20
        if not is_number or not lowest <= int(text) <= highest:
            raise argparse.ArgumentTypeError(f"give a whole number from {lowest} to {highest}, not {text[:40]!r}")
        return int(text)

    return read


def real(highest: float, words: str) -> Callable[[str], float]:
    """A number above 0, at most `highest` and finite, as argparse reads it; `words` say so."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 < value <= highest or math.isinf(value):
            raise argparse.ArgumentTypeError(f"give a number {words}, not {text[:40]!r}")
        return value

    return read


def archive(text: str) -> Path:
    """The path of a file to write: NAME.npz."""
    if not text.endswith(".npz") or Path(text).name in (".npz", ".train.npz"):
        raise argparse.ArgumentTypeError(f"give it a name that ends in .npz, not {text[:40]!r}")
    return Path(text)


def train_parser() -> Parser:
    """`glassllm-tui train`. An option that is None was not given: the run's default, or what it began with."""
    made = Parser(
        prog=f"{PROGRAM} train",
        description="Train a model on a text. The last tenth of the text is kept back for validation.",
        epilog="ctrl+c saves the run and leaves; --resume goes on as if it had never stopped.",
        allow_abbrev=False,
    )
    made.add_argument("path", metavar="FILE", help="the model to begin with; it is not changed")
    made.add_argument("--text", metavar="TEXT", type=Path, required=True, help="a file to learn from, in UTF-8")
    made.add_argument("--out", metavar="F", type=archive, help="where to write (default: FILE-trained.npz, here)")
    made.add_argument("--resume", action="store_true", help="go on with the run saved beside F")
    made.add_argument("--steps", metavar="N", type=whole(1), help="steps in all (default: 1000)")
    made.add_argument(
        "--lr", metavar="R", type=real(10, "above 0, at most 10"), help="learning rate (default: 0.003)"
    )
    made.add_argument("--batch", metavar="N", type=whole(1, 65536), help="rows of a batch (default: 16)")
    made.add_argument(
        "--seq", metavar="N", type=whole(1, 65536), help="tokens of a row (default: 128, if it fits)"
    )
    made.add_argument(
        "--warmup", metavar="N", type=whole(0), help="steps (default: 100, or a tenth if that is less)"
    )
    made.add_argument("--seed", metavar="N", type=whole(0, 2**63 - 1), help="of the batches (default: 0)")
    made.add_argument("--eval-every", metavar="N", type=whole(1), help="steps between validations (default: 100)")
    made.add_argument("--fused", action="store_true", default=None, help="use faster ops that hide their parts")
    return made


def generate_parser() -> Parser:
    """`glassllm-tui generate`."""
    made = Parser(
        prog=f"{PROGRAM} generate",
        description="Write on from a prompt, token by token.",
        allow_abbrev=False,
    )
    made.add_argument("path", metavar="FILE", help="the model")
    made.add_argument(
        "prompt", metavar="PROMPT", nargs="?", help="what to go on from (default: nothing, a text begins)"
    )
    made.add_argument("-n", metavar="N", type=whole(1, 10**6), default=50, help="tokens to write (default: 50)")
    made.add_argument("--greedy", action="store_true", help="always take the likeliest token")
    temperature = real(math.inf, "above 0 and finite")
    made.add_argument("--temperature", metavar="T", type=temperature, default=1.0, help="default: 1")
    made.add_argument("--top-k", metavar="K", type=whole(1), help="draw from the K likeliest only")
    share = real(1, "above 0, at most 1")
    made.add_argument("--top-p", metavar="P", type=share, help="draw from the fewest that have P together")
    made.add_argument("--seed", metavar="N", type=whole(0, 2**63 - 1), help="the same seed writes the same")
    made.add_argument("--json", action="store_true", help="print tokens and their probabilities as JSON")
    made.add_argument(
        "--likeliest", metavar="N", type=whole(1), default=0, help="in JSON, the N likeliest at every token"
    )
    made.add_argument("--events", action="store_true", help="in JSON, every token's events and their statistics")
    return made


PARSERS = {"train": train_parser, "generate": generate_parser}
"""The commands by name. A file of such a name is opened as ./train."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The meaning of a command's words, its name the first of them."""
    parser = PARSERS[words[0]]()
    options, unknown = parser.parse_known_args(words[1:])
    if unknown:
        parser.refuse_unknown(unknown[0])
    if words[0] == "generate" and options.prompt == "":
        refuse("the prompt is empty; give some words, or leave it out to begin anew")
    if words[0] == "generate" and not options.json and (options.likeliest or options.events):
        refuse("--likeliest and --events are for --json; give that too")
    return options
