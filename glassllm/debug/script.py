"""A user's own program under the debugger: run as Python would run it, every op recorded, then browsed.

The program has the user's rights and may do anything; it is the only file here that is ever executed. What it did
to the interpreter's own variables is undone when it ends, however it ends.
"""

import builtins
import linecache
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib.util import decode_source
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TextIO

from glassllm.autograd import graph
from glassllm.autograd import tensor as engine
from glassllm.autograd.tensor import Tensor
from glassllm.checkpoint.archive import opening_error
from glassllm.files import open_descriptor, printable, shown

from .descriptors import apart, captured
from .ending import Ending, ending_of
from .interpreter import as_main, heard_by, still_running
from .naming import names_in
from .numerals import counted
from .output import Output
from .rolling import RollingRecorder, Run
from .runs import graph_facts
from .snapshot import CommandError, RunFacts
from .tape import Tape

LARGEST = 16 << 20  # bytes of a program

running: "Script | None" = None
"""The script that runs just now."""


@dataclass(eq=False)
class Script:
    """A program and its arguments. `root` names the Tensor to open, a global variable at the program's end.

    What it prints goes to `echo` too. `stop` is the exception by which a hook ends it before its time, and
    `stopped` is called when it has; `heard` is called after every op with the number of ops and of runs.
    """

    path: Path
    arguments: Sequence[str] = ()
    root: str | None = None
    echo: TextIO | None = None
    stop: type[BaseException] | None = None
    stopped: Callable[[], object] = lambda: None
    heard: Callable[[int, int], object] = lambda ops, runs: None
    _recorder: RollingRecorder = field(init=False, repr=False)
    _modules: set[str] = field(default_factory=set, init=False, repr=False)

    def record(self) -> tuple[Tape, RunFacts]:
        """Run the program from its first line, and take the run that it calls for.

        Raises CommandError, one line, for a program that cannot be compiled or applies no op, and CheckpointError
        for a file that cannot be read.
        """
        code, main = self._compiled(), ModuleType("__main__")
        main.__dict__.update(__file__=code.co_filename, __builtins__=builtins)
        self._recorder = RollingRecorder(main.__dict__, engine.hook, self._hear)
        with apart(self.echo) as echo:
            output = Output(echo)
            with captured(output):
                ending, threads = self._run(code, main, output)
        notes = self._notes(ending, threads, output)
        run = self._called_for(ending, main.__dict__)
        if run is None:
            raise self._refused("; ".join([self._nothing(ending), *notes]))
        if self._recorder.runs > 1:
            notes.insert(0, f"run {run.number} of {max(self._recorder.runs, run.number)}")
        tape = run.tape(names_in(ending.frames, main.__dict__))
        notes = [*_rewritten(tape), *notes]
        facts = graph_facts(tape, self.path.name)
        return tape, replace(
            facts,
            notes=tuple(notes),
            printed=output.lines,
            exit_code=ending.exit_code,
            fault=ending.fault,
        )

    def open_on(self, root: Tensor) -> None:
        """Have this Tensor opened when the program has ended; for the program itself to call.

        Raises ValueError for a Tensor that no op made.
        """
        if root.node is None:
            raise ValueError("this Tensor has no graph behind it: no op made it while tracking was on")
        self._recorder.choose(root)

    def _hear(self) -> None:
        self.heard(self._recorder.ops, self._recorder.runs)

    def _refused(self, why: str) -> CommandError:
        return CommandError(f"{shown(self.path)}: {printable(why)}")

    # Running

    def _compiled(self) -> CodeType:
        try:
            with open(open_descriptor(self.path), "rb") as file:
                is_long = os.fstat(file.fileno()).st_size > LARGEST
                content = b"" if is_long else file.read()
        except (OSError, ValueError) as error:
            raise opening_error(self.path, error) from None
        if is_long:
            raise self._refused(f"longer than {LARGEST >> 20} MB; give a smaller program")
        name = str(self.path.resolve())
        try:
            code: CodeType = compile(content, name, "exec", dont_inherit=True)
            lines = decode_source(content).splitlines(keepends=True)
        except SyntaxError as error:
            where = "" if error.lineno is None else f":{error.lineno}"
            what = f"{type(error).__name__}: {error.msg}"
            raise CommandError(f"{shown(self.path)}{where}: {printable(what)}; mend this line") from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise self._refused(f"no Python program: {error}") from None
        # Tracebacks and the source panel show what ran, even if the file is edited meanwhile.
        linecache.cache[name] = (len(content), None, lines, name)
        return code

    def _run(self, code: CodeType, main: ModuleType, output: Output) -> tuple[Ending, int]:
        """How it ended, and how many of its threads go on."""
        global running
        for name in self._modules:  # so that they are read again
            sys.modules.pop(name, None)
        threads, modules = set(threading.enumerate()), set(sys.modules)
        folder = Path(code.co_filename).parent
        before, running = running, self
        try:
            with as_main(main, [str(self.path), *self.arguments], folder, output), heard_by(self._recorder):
                ending = self._executed(code, main, output)
                if output.is_copy:  # a child that the program forked ends where the program does
                    os._exit(ending.exit_code)
                return ending, still_running(threads)
        finally:
            running = before
            self._modules = {name for name in set(sys.modules) - modules if _stands_in(folder, name)}

    def _executed(self, code: CodeType, main: ModuleType, output: Output) -> Ending:
        try:
            exec(code, main.__dict__)
        except BaseException as error:
            is_ours = threading.current_thread() is threading.main_thread() and not output.is_copy
            if isinstance(error, KeyboardInterrupt) and is_ours:
                raise
            ending = ending_of(error, self.stop)
            if self.stop is not None and isinstance(error, self.stop):
                self.stopped()
            if isinstance(error, SystemExit) and not isinstance(error.code, int | None):
                output.write("err", f"{error.code}\n")
            for line in ending.fault.traceback if ending.fault else ():
                output.write("err", f"{line}\n")
            return ending
        return Ending()

    # What to open

    def _called_for(self, ending: Ending, variables: dict[str, Any]) -> Run | None:
        """The run asked for, else the one that broke off, else the newest; None where no op was applied."""
        recorder = self._recorder
        if ending.is_broken:
            return recorder.chosen or recorder.rest() or recorder.ended
        if self.root is not None and recorder.ops:
            return recorder.behind(self._node(self.root, variables))
        return recorder.chosen or recorder.ended or recorder.rest()

    def _node(self, name: str, variables: dict[str, Any]) -> graph.Node:
        """The node of the Tensor that a global variable holds."""
        names = names_in((), variables)
        made = {name: tensor.node for name, tensor in names.items() if tensor.node is not None}
        if name in made:
            return made[name]
        if name in names:
            raise self._refused(
                f"--root {name}: no op made it while tracking was on, so it has no graph behind it"
            )
        close = get_close_matches(name, made, 2) or list(made)[-2:]
        there = f"there is {' and '.join(close)}" if close else "at its end no variable holds a graph"
        raise self._refused(f"--root {name}: no variable holds such a Tensor; {there}")

    def _notes(self, ending: Ending, threads: int, output: Output) -> list[str]:
        """What there is to say about the run, a few words each."""
        notes = [f"{ending.words} after op {self._recorder.ops}" if ending.is_broken else ending.words]
        if threads:
            notes.append(f"{counted(threads, 'thread')} of it still running, unrecorded")
        if output.count:
            notes.append(f"{counted(output.count, 'line')} printed")
        return [note for note in notes if note]

    def _nothing(self, ending: Ending) -> str:
        if self._recorder.ops:
            return "what was recorded is gone"
        before = "before" if ending.is_broken else "from beginning to end"
        return f"no op was applied to a Tensor {before}"


def _rewritten(tape: Tape) -> list[str]:
    """Which arrays the program wrote into that the run had used, where what is shown is not all that they were."""
    said = {
        "written into between two uses: {}; shown as first used": sorted(tape.kept.rewritten),
        "written into since: {}; too large to keep, shown as now": tape.kept.lost(),
    }
    names = {words: dict.fromkeys(tape.rows[row].name for row in rows) for words, rows in said.items()}
    return [words.format(" ".join(found)) for words, found in names.items() if found]


def _stands_in(folder: Path, module: str) -> bool:
    """Whether a module was imported from this folder."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and Path(file).parent == folder
