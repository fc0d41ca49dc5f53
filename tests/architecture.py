"""What the house is built on, read from the sources: who imports whom, and which doors stay shut.

Every check returns the violations it finds in a source, one line each.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 350

LAYOUT = """
    glassllm.autograd.ops glassllm.autograd.graph glassllm.autograd.tensor glassllm.autograd.functions
    glassllm.autograd glassllm.files glassllm.config glassllm.trace glassllm.tokenizer glassllm.checkpoint
    glassllm.nn glassllm.model glassllm.generation glassllm.optim glassllm.train glassllm.interop glassllm
    glassllm.debug.snapshot glassllm.debug glassllm.debug.explain glassllm.debug.session
    glassllm.debug.recording glassllm.debug.selecting glassllm.debug.gradients glassllm.debug.commands
    glassllm.debug.desk glassllm.debug.opening glassllm.debug.report tui tui.usage tui.log tui.draw tui.filters
    tui.settings tui.terminal tui.chrome tui.graph_layout tui.keys tui.messages tui.task tui.engine tui.widgets
    tui.dump tui.screens tui.opening tui.app tui.scripted tui.report tui.headless tui.cli tui.breakpoint
"""
ORDER = LAYOUT.split()
"""A module imports from its own entry and those before it. An entry stands for all below it that have none."""


PUBLIC = {"_replace", "_asdict", "_fields", "_exit"}
"""Names that begin like private ones and are documented: of NamedTuple, and os._exit."""


@dataclass(frozen=True)
class Source:
    """One module: its dotted name and its text."""

    name: str
    text: str
    is_package: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def imports(self, with_types: bool = False) -> Iterator[tuple[str, str]]:
        """(module, name) of every import, the name empty for plain ones; those for type checkers only if asked."""
        for node in walk(self.tree, with_types):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((self.absolute(node), alias.name) for alias in node.names)

    def absolute(self, node: ast.ImportFrom) -> str:
        """The module an import names, relative ones resolved."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        package = parts[: len(parts) - node.level + self.is_package]
        return ".".join([*package, *filter(None, [node.module])])


def walk(node: ast.AST, with_types: bool = True) -> Iterator[ast.AST]:
    """All nodes, unless asked without those under `if TYPE_CHECKING:`."""
    yield node
    for child in ast.iter_child_nodes(node):
        is_for_types = isinstance(child, ast.If) and isinstance(child.test, ast.Name)
        if with_types or not (is_for_types and child.test.id == "TYPE_CHECKING"):
            yield from walk(child, with_types)


def read_all() -> list[Source]:
    found = []
    for path in sorted([*ROOT.glob("glassllm/**/*.py"), *ROOT.glob("tui/**/*.py")]):
        parts = path.relative_to(ROOT).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        found.append(Source(".".join(parts[:-1] if is_package else parts), path.read_text("utf-8"), is_package))
    return found


SOURCES = read_all()
MODULES = {source.name for source in SOURCES}


def belongs(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def targets(source: Source, modules: set[str]) -> Iterator[str]:
    """Our own modules that a module imports while it runs."""
    for module, name in source.imports():
        for target in (f"{module}.{name}", module):
            if target in modules:
                yield target
                break


# The checks


def entry(name: str) -> int:
    """The place in ORDER, by the longest entry that the module belongs to."""
    return max((i for i, e in enumerate(ORDER) if belongs(name, e)), key=lambda i: len(ORDER[i]))


def against_the_order(source: Source) -> list[str]:
    """Imports of what stands below; a package's __init__ may gather what it holds."""
    return [
        f"{source.name} imports {target}, which stands below it"
        for target in targets(source, MODULES | {source.name})
        if entry(target) > entry(source.name) and not (source.is_package and belongs(target, source.name))
    ]


def cycles(sources: list[Source]) -> list[str]:
    """A circle of imports, if there is one."""
    modules = {source.name for source in sources}
    edges = {s.name: set(targets(s, modules)) - {s.name} for s in sources if not s.is_package}
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return [" -> ".join(error.args[1])]
    return []


def foreign(source: Source) -> list[str]:
    """What the engine imports besides NumPy and the standard library."""
    known = {*sys.stdlib_module_names, "numpy", "glassllm"}
    roots = {module.partition(".")[0] for module, _ in source.imports(with_types=True)}
    return [f"{source.name} imports {root}" for root in sorted(roots - known)]


def impure(source: Source) -> list[str]:
    """What drawing imports of the screen or the engine: it takes plain values only."""
    engine = (
        "glassllm.autograd.tensor",
        "glassllm.autograd.functions",
        "glassllm.model",
        "glassllm.debug.session",
    )
    barred = ("textual", *engine, "tui.engine", "tui.widgets")
    return [
        f"{source.name} imports {module} {name}"
        for module, name in source.imports()
        if name == "Tensor" or any(belongs(f"{module}.{name}", each) or belongs(module, each) for each in barred)
    ]


def session_holders(source: Source) -> list[str]:
    """Ways to come by a session; only the engine's thread and the report, which has no screen, may have one."""
    barred = {"glassllm.debug.session", "glassllm.debug.opening", "glassllm.debug.tape", "glassllm.model"}
    found = {module for module, name in source.imports() if {module, f"{module}.{name}"} & barred}
    return [f"{source.name} imports {module}" for module in sorted(found)]


def private_doors(source: Source, ours: set[str]) -> list[str]:
    """Imports of others' private modules and names, and private attributes that nobody of us has defined."""
    found = [
        f"{source.name} imports {module} {name}"
        for module, name in source.imports(with_types=True)
        if not belongs(module, "glassllm") and not belongs(module, "tui") and is_private(f"{module}.{name}")
    ]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in ours | PUBLIC:
            found.append(f"{source.name}:{node.lineno} reaches for {node.attr}")
    return found


def is_private(dotted: str) -> bool:
    return any(part.startswith("_") and not part.endswith("__") for part in dotted.split("."))


def defined(source: Source) -> set[str]:
    """Every name that a module defines or assigns, attributes and slots included."""
    names = set()
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def rule_holders(source: Source) -> list[str]:
    """Functions that get hold of an op's backward rule. `tensor.backward()` is another thing: a traversal."""
    return [f"{source.name}.{name}" for name, node in by_function(source.tree) if takes_rule(node)]


def by_function(tree: ast.AST, name: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every node with the name of the function it stands in."""
    for child in ast.iter_child_nodes(tree):
        inside = child.name if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else name
        yield inside, child
        yield from by_function(child, inside)


def takes_rule(node: ast.AST) -> bool:
    """`….op.backward`, `x.backward` with more than a seed, or `getattr(x, "backward")`."""
    if isinstance(node, ast.Attribute):
        owner = ast.unparse(node.value).rpartition(".")[2]
        is_read = node.attr == "backward" and isinstance(node.ctx, ast.Load)
        return is_read and (owner == "op" or owner.endswith("_op"))
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id == "getattr":
        return any(isinstance(arg, ast.Constant) and arg.value == "backward" for arg in node.args)
    is_named_so = isinstance(node.func, ast.Attribute) and node.func.attr == "backward"
    return is_named_so and len(node.args) + len(node.keywords) > 1


def users(source: Source, name: str) -> set[str]:
    """The functions that use a name."""
    return {f for f, node in by_function(source.tree) if isinstance(node, ast.Name) and node.id == name}


def code_from_data(source: Source) -> list[str]:
    """Whatever would run what a file says: unpickling, eval, exec, imports by name."""
    barred = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "code", "codeop"}
    found = [
        f"{source.name} imports {module}"
        for module, _ in source.imports(with_types=True)
        if module.partition(".")[0] in barred
    ]
    for node in ast.walk(source.tree):
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if called in ("eval", "exec", "compile", "__import__", "np.load", "numpy.load") or "allow_pickle" in [
            keyword.arg for keyword in getattr(node, "keywords", []) if not is_false(keyword.value)
        ]:
            found.append(f"{source.name}:{node.lineno} calls {called}")
    return found


def is_false(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def too_long(source: Source) -> list[str]:
    lines = len(source.text.splitlines())
    return [f"{source.name} has {lines} lines"] if lines > LONGEST else []


def silent(source: Source) -> list[str]:
    return [] if ast.get_docstring(source.tree) else [f"{source.name} does not say what it is"]
