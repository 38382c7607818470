"""Change the source in one place after the other, and see whether a test notices.

    make mutants
    OMP_NUM_THREADS=1 python tools/mutate.py --out runs/again.jsonl --again runs/mutants.jsonl

The second command takes only those that no test noticed in the first.

Mutants of a function's body swap its code object in a fork of a process that has collected the
tests, so each costs the tests that reach its statement and nothing else. Decorators, properties and
closures need no special care: whatever wraps a function calls the same function object. What runs
at import, such as constants and fields of dataclasses, is imported anew in a fork of a process that
knows only the libraries, with all tests that reach its file; so is every mutant that no test
noticed, since tests may have used the function while they were collected. No file is written but
``--out``: a line of JSON per mutant.

Hypothesis draws the same examples for every mutant. A test has five times its undisturbed processor
time and five seconds; those that start processes do not see a mutant there, and are not counted as
reaching it. Texts with values in them, docstrings and the decorators of classes stay as they are.
"""

import argparse
import ast
import copy
import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FunctionType

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src"
SOURCES = ("metrics", "defences", "theory.py", "rounds.py")
TESTS = ("tests/metrics", "tests/defences", "tests/test_theory.py", "tests/test_rounds.py")
LIBRARIES = ("numpy", "scipy.optimize", "scipy.spatial", "torch", "polars", "sklearn.cluster")
MORE_MEMORY_BYTES = 2 << 30  # a mutant may ask for an array of any size
OPTIONS = (
    "--override-ini=addopts=", "--strict-markers", "--hypothesis-profile=mutants",
    "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:randomly",
    "-W", "ignore:Module already imported",  # hypothesis, by us
)  # fmt: skip
KILLED, SURVIVED, TIMEOUT = "killed", "survived", "timeout"

COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
PAIRS = [
    ("min", "max"), ("any", "all"), ("floor", "ceil"), ("argmin", "argmax"), ("zeros", "ones"),
    ("minimum", "maximum"), ("zeros_like", "ones_like"), ("mean", "sum"),
]  # fmt: skip
SWAPPED = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}


@dataclass(frozen=True)
class Mutant:
    """A file changed in one place.

    Attributes:
        lines: the first and the last line of the statement, without the body of a compound one.
        function: name and line of the outermost function whose body it is in; None at import.
        code: of the changed module.
    """

    file: str
    line: int
    column: int
    change: str
    lines: tuple[int, int]
    function: tuple[str, int] | None
    code: CodeType

    @property
    def name(self):
        return f"{self.file}:{self.line}:{self.column} {self.change}"


def main():
    chosen = arguments()
    found = [each for path in files() for each in mutants(path)]
    if chosen.again:
        earlier = map(json.loads, chosen.again.read_text().splitlines())
        left = {each["mutant"] for each in earlier if each["outcome"] == SURVIVED}
        found = [each for each in found if each.name in left]
    settings.register_profile(
        "mutants", deadline=None, database=None, derandomize=True,
        phases=[Phase.explicit, Phase.generate],
    )  # fmt: skip
    for library in LIBRARIES:
        importlib.import_module(library)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder, chosen.out.open("w") as out:
        bodies = Bodies([each for each in found if each.function], Path(folder) / "reach", out)
        command = [*chosen.tests, *OPTIONS]
        if in_fork(lambda _: pytest.main(command, [bodies]))[0] != SURVIVED:
            sys.exit("the tests do not pass without a mutant")
        reach = json.loads(bodies.reach.read_text())
        judged = {each["mutant"] for each in map(json.loads, chosen.out.read_text().splitlines())}
        for each in found:
            if each.name not in judged:
                tests = near(reach, each.file)
                work = partial(imported, each, tests)
                write(out, each, tests, *(in_fork(work, limited=True) if tests else (SURVIVED, "")))
    print(Counter(json.loads(line)["outcome"] for line in chosen.out.read_text().splitlines()))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="a line of JSON per mutant")
    parser.add_argument("--again", type=Path, help="an earlier --out: only what survived there")
    parser.add_argument("tests", nargs="*", default=TESTS, help="the tests that may notice")
    return parser.parse_args()


def files():
    for source in SOURCES:
        path = PACKAGE / "veilmap" / source
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


# What is changed.


def mutants(path):
    tree = ast.parse(path.read_text())
    seen = {compile(tree, str(path), "exec")}
    for node, put, statement, function in places(tree, None, None, ()):
        for new in changed(node):
            put(ast.fix_missing_locations(ast.copy_location(new, node)))
            code = compile(tree, str(path), "exec")
            put(node)
            # Two changes may come to the same.
            if code not in seen:
                seen.add(code)
                at = statement if isinstance(node, ast.comprehension) else node
                yield Mutant(
                    str(path.relative_to(PACKAGE)),
                    at.lineno,
                    at.col_offset,
                    difference(node, new),
                    header(statement),
                    function,
                    code,
                )


def places(node, statement, function, scope):
    """Every node that may be replaced, how, and the statement and function in which it is."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "format_spec"):
            continue
        # That fields are not assigned is held by mypy.
        if isinstance(node, ast.ClassDef) and field == "decorator_list":
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or is_text(node, child, index):
                continue
            inner, inside = scope, function
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and field == "body":
                inner = (*scope, node.name)
                if isinstance(node, ast.FunctionDef) and not function:
                    first = min(each.lineno for each in [node, *node.decorator_list])
                    inside = ".".join(inner), first
            here = child if isinstance(child, ast.stmt) else statement
            if isinstance(child, ast.expr | ast.stmt | ast.comprehension):
                yield child, partial(put_into, node, field, index), here, inside
            yield from places(child, here, inside, inner)


def is_text(parent, child, index):
    """A docstring, or what stands between the values of a text."""
    if isinstance(parent, ast.JoinedStr):
        return isinstance(child, ast.Constant)
    return (
        isinstance(parent, ast.Module | ast.ClassDef | ast.FunctionDef)
        and isinstance(child, ast.Expr)
        and isinstance(child.value, ast.Constant)
    )


def put_into(parent, field, index, child):
    value = getattr(parent, field)
    if isinstance(value, list):
        value[index] = child
    else:
        setattr(parent, field, child)


def header(statement):
    body = getattr(statement, "body", None)
    last = max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno
    return statement.lineno, last


def difference(old, new):
    """Both as text, without what they share at both ends except for a little."""
    texts = [" ".join(ast.unparse(each).split()) for each in (old, new)]
    before = max(shared(*texts) - 30, 0)
    after = max(shared(*(each[:before:-1] for each in texts)) - 30, 0)
    return " -> ".join(each[before : len(each) - after] for each in texts)


def shared(one, other):
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def changed(node):
    """What a node may be replaced by."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                for other in COMPARED[type(operator)]:
                    yield like(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])
        case ast.BinOp() | ast.AugAssign() if type(node.op) in COMPUTED:
            yield like(node, op=COMPUTED[type(node.op)]())
            if isinstance(node, ast.AugAssign):
                yield ast.Pass()
        case ast.BoolOp():
            yield like(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp():
            yield node.operand
        case ast.If() | ast.While() | ast.IfExp() if not isinstance(node.test, ast.Compare):
            yield like(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.comprehension(ifs=[condition]):
            yield like(node, ifs=[ast.UnaryOp(ast.Not(), condition)])
        case ast.Constant(value=value):
            yield from map(ast.Constant, other_values(value))
        case ast.Return(value=ast.expr() as value) if not is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr() | ast.Raise():
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
        case ast.Call():
            yield from other_calls(node)
        case ast.Slice():
            yield from (
                like(node, **{end: None}) for end in ("lower", "upper") if getattr(node, end)
            )
        case ast.FunctionDef():
            for place, decorator in enumerate(node.decorator_list):
                if isinstance(decorator, ast.Call):
                    left = node.decorator_list
                    yield like(node, decorator_list=[*left[:place], *left[place + 1 :]])


def is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def like(node, **fields):
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def other_values(value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [2 * value, value / 2] if value else [1.0]
    return ["XX"] if isinstance(value, str) else []


def other_calls(call):
    name = getattr(call.func, "attr", getattr(call.func, "id", None))
    if name in SWAPPED:
        field = "attr" if isinstance(call.func, ast.Attribute) else "id"
        yield like(call, func=like(call.func, **{field: SWAPPED[name]}))
    for place, keyword in enumerate(call.keywords):
        # A flag is turned over instead.
        if keyword.arg and not isinstance(getattr(keyword.value, "value", None), bool):
            yield like(call, keywords=[*call.keywords[:place], *call.keywords[place + 1 :]])


# Whether a test notices.


class Watch:
    """Names the first test that fails, and ends the process where one takes far too long."""

    def __init__(self):
        self.noticed, self.seconds = None, {}

    def pytest_runtest_logstart(self, nodeid):
        if nodeid in self.seconds:
            limit_time(5 * self.seconds[nodeid] + 5)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.noticed = self.noticed or report.nodeid


class Bodies(Watch):
    """Once the tests are collected: which lines each reaches, then mutant after mutant in a fork.

    This process itself runs no test, so every fork begins with empty caches, and with none of the
    threads of polars and torch, which do not survive a fork.
    """

    def __init__(self, mutants, reach, out):
        super().__init__()
        self.mutants, self.reach, self.out = mutants, reach, out

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        self.run = session.config.hook.pytest_runtest_protocol
        if in_fork(lambda _: self.record(session.items))[0] != SURVIVED:
            session.testsfailed = 1
            return True
        reach = json.loads(self.reach.read_text())
        items = {item.nodeid: item for item in session.items}
        functions = live_functions()
        for each in self.mutants:
            tests = reaching(reach, each.file, *each.lines)
            chosen = [items[name] for name in tests]
            self.seconds = tests
            outcome, by = in_fork(partial(self.swapped, each, functions, chosen), limited=True)
            if outcome != SURVIVED:
                write(self.out, each, tests, outcome, by)
        return True

    def record(self, items):
        """Each test by itself, so that it also reaches what sets up its fixtures."""
        reach = {}
        for item in items:
            lines, began = {}, time.process_time()
            sys.settrace(tracer(lines))
            self.run(item=item, nextitem=None)
            sys.settrace(None)
            reach[item.nodeid] = {
                "seconds": time.process_time() - began,
                "lines": {file: sorted(reached) for file, reached in lines.items()},
            }
        self.reach.write_text(json.dumps(reach))
        if self.noticed:
            print(self.noticed, file=sys.__stderr__)
        return bool(self.noticed)

    def swapped(self, mutant, functions, items, say):
        codes = [each for each in all_codes(mutant.code) if key(each) == mutant.function]
        for function in functions[mutant.file, *mutant.function]:
            function.__code__ = codes[0]
        for item, after in zip(items, [*items[1:], None], strict=True):
            self.run(item=item, nextitem=after)
            if self.noticed:
                say(self.noticed)
                return True
        return False


def imported(mutant, tests, say):
    """Whether a test fails where the module is imported with the change."""
    plugin = Chosen(tests)
    sys.meta_path.insert(0, Finder(mutant))
    code = pytest.main([*sorted({name.split("::")[0] for name in tests}), *OPTIONS, "-x"], [plugin])
    if code:
        say(plugin.noticed or "import")
    return code


class Chosen(Watch):
    """Only the named tests, in their order."""

    def __init__(self, tests):
        super().__init__()
        self.seconds = tests

    def pytest_collection_modifyitems(self, items):
        order = list(self.seconds)
        items[:] = [item for item in items if item.nodeid in self.seconds]
        items.sort(key=lambda item: order.index(item.nodeid))


class Finder:
    def __init__(self, mutant):
        self.mutant = mutant
        self.module = mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def find_spec(self, name, path=None, target=None):
        if name != self.module:
            return None
        file = str(PACKAGE / self.mutant.file)
        loader = SourceFileLoader(name, file)
        loader.get_code = lambda _: self.mutant.code
        return spec_from_file_location(name, file, loader=loader)


def tracer(lines):
    prefix = f"{PACKAGE}{os.sep}"
    watched = {f"{path}" for path in files()}

    def on_line(frame, event, argument):
        if event == "line":
            lines[frame.f_code.co_filename.removeprefix(prefix)].add(frame.f_lineno)
        return on_line

    def on_call(frame, event, argument):
        file = frame.f_code.co_filename
        if file not in watched:
            return None
        lines.setdefault(file.removeprefix(prefix), set())
        return on_line

    return on_call


def reaching(reach, file, first, last):
    """The tests that reach one of the lines, with their seconds: the file's own first."""
    found = {
        name: each["seconds"]
        for name, each in reach.items()
        if any(first <= line <= last for line in each["lines"].get(file, ()))
    }
    return own_first(found, file)


def near(reach, file):
    """Those that reach the file anywhere, and its own, which may have used it as they were read."""
    own = {name: each["seconds"] for name, each in reach.items() if is_own(name, file)}
    return own_first({**own, **reaching(reach, file, 0, sys.maxsize)}, file)


def own_first(tests, file):
    return dict(sorted(tests.items(), key=lambda test: (not is_own(test[0], file), test[1])))


def is_own(name, file):
    return f"/test_{Path(file).name}::" in name


def live_functions():
    found = {}
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename.startswith(str(PACKAGE)):
            file = str(Path(each.__code__.co_filename).relative_to(PACKAGE))
            found.setdefault((file, *key(each.__code__)), []).append(each)
    return found


def key(code):
    return code.co_qualname, code.co_firstlineno


def all_codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from all_codes(constant)


def write(out, mutant, tests, outcome, by):
    line = {"mutant": mutant.name, "outcome": outcome, "by": by, "tests": len(tests)}
    print(json.dumps(line), file=out, flush=True)


def in_fork(work, limited=False):
    """Do ``work`` in a fork: whether it came to nothing, and what it said."""
    ear, mouth = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(ear)
            if limited:
                limit_memory()
                limit_time(60)
            code = int(work(lambda text: os.write(mouth, text.encode())))
        finally:
            os._exit(code)
    os.close(mouth)
    with os.fdopen(ear) as said:
        text = said.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code in (-signal.SIGPROF, -signal.SIGALRM):
        return TIMEOUT, text
    return KILLED if code else SURVIVED, text


def limit_memory():
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MORE_MEMORY_BYTES,) * 2)


def limit_time(seconds):
    signal.setitimer(signal.ITIMER_PROF, seconds)
    # What waits uses no processor time.
    signal.setitimer(signal.ITIMER_REAL, 20 * seconds)


if __name__ == "__main__":
    main()
