"""No pattern of the service takes more than linear time on a text that repeats a match of one of its repetitions.

Python's engine backtracks: `(a+)+b` takes time that doubles with each `a`, `\\s*x` that is searched for takes the
square of the number of blanks. Texts are of strangers, so that such a pattern stops a process.
"""

import ast
import pkgutil
import re
import time
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from itertools import product
from typing import Any

import pytest

import app
from tests.conftest import ROOT

sre: Any = vars(re)["_constants"]  # the parser of re.compile
parser: Any = vars(re)["_parser"]
LENGTHS = (24, 30, 400, 12_000)
"""Of repetitions: an exponential pattern shows itself at the second, a quadratic one at the last."""
SHARE_OF_QUADRATIC = 0.3
"""A pattern is slow if it takes this share of the CPU time that a quadratic one takes in the same process; a linear one
takes a hundredth."""
_TAILS = ("", "\x00", "!\n")
_PUMPS = (" ", "\t", "\n", "a", "0", ",", "a,", " a", "(", "[", '"', "\\", "-", ".", "a ", "0,", ": ")
_VERBS = {
    "match": re.Pattern.match,
    "fullmatch": re.Pattern.fullmatch,
    **dict.fromkeys(("search", "finditer", "findall", "sub", "subn", "split"), re.Pattern.search),
}
_APPLIED = re.compile(rf"\b([A-Z_]{{3,}})\.({'|'.join(_VERBS)})\(")


def patterns() -> dict[str, tuple[re.Pattern[Any], set[Any]]]:
    """Every compiled pattern of a module of `app`, and the methods by which that module, of a public name any module,
    applies one of its name.
    """
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py")}
    everything = "\n".join(sources.values())
    found = {}
    for module in pkgutil.walk_packages(app.__path__, "app."):
        path = ROOT / module.name.replace(".", "/")
        source = sources[path / "__init__.py" if module.ispkg else path.with_suffix(".py")]
        if "re.compile(" not in source:
            continue  # imported patterns are tried in their module
        for name, value in _named(import_module(module.name)):
            applied = _APPLIED.findall(source if name.startswith("_") else everything)
            verbs = {_VERBS[verb] for owner, verb in applied if owner == name} or {re.Pattern.match}
            found[f"{module.name}.{name}"] = (value, verbs)
    for path, source in sources.items():
        for call in _inline(source):
            pattern, verb = ast.literal_eval(call.args[0]), ast.unparse(call.func).removeprefix("re.")
            found[f"{path.name}:{call.lineno}"] = (re.compile(pattern), {_VERBS[verb]})
    return found


def _named(module: Any) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern):
            yield name, value
        elif isinstance(value, dict):
            yield from ((f"{name}[{key}]", entry) for key, entry in value.items() if isinstance(entry, re.Pattern))
        elif isinstance(value, tuple | list):
            yield from ((f"{name}[{at}]", entry) for at, entry in enumerate(value) if isinstance(entry, re.Pattern))


def _inline(source: str) -> Iterator[ast.Call]:
    """The calls `re.match(pattern, …)` and so on."""
    if "import re" in source:
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in {f"re.{verb}" for verb in _VERBS}:
                yield call


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str]]:
    """Texts (head, pump): a match of the pattern up to a repetition, and a match of the repeated part."""
    yield from (("", pump) for pump in _PUMPS)
    yield from _of(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG), "")


def _of(items: Any, head: str) -> Iterator[tuple[str, str]]:
    before = head
    for operator, argument in items:
        if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            body = argument[2]
            yield before, _sample(body) or "a"
            yield from _of(body, before)
        elif operator is sre.SUBPATTERN:
            yield from _of(argument[-1], before)
        elif operator is sre.BRANCH:
            for branch in argument[1]:
                yield from _of(branch, before)
        before += _sample([(operator, argument)])


def _sample(items: Any) -> str:
    """A text that the items match, once for repetitions."""
    text = ""
    for operator, argument in items:
        if operator is sre.LITERAL:
            text += chr(argument)
        elif operator is sre.NOT_LITERAL:
            text += "a" if argument != ord("a") else "b"
        elif operator is sre.ANY:
            text += "a"
        elif operator is sre.IN:
            text += next((c for c in "a0 ,:-.A\t[(\n/_" if _is_in(argument, c)), "~")
        elif operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            text += _sample(argument[2]) * max(1, min(argument[0], 64))
        elif operator is sre.SUBPATTERN:
            text += _sample(argument[-1])
        elif operator is sre.BRANCH:
            text += _sample(argument[1][0])
    return text


def _is_in(items: Any, character: str) -> bool:
    categories = {
        sre.CATEGORY_DIGIT: character.isdigit(),
        sre.CATEGORY_NOT_DIGIT: not character.isdigit(),
        sre.CATEGORY_SPACE: character.isspace(),
        sre.CATEGORY_NOT_SPACE: not character.isspace(),
        sre.CATEGORY_WORD: character.isalnum() or character == "_",
        sre.CATEGORY_NOT_WORD: not (character.isalnum() or character == "_"),
    }
    is_negated = items[0][0] is sre.NEGATE
    is_listed = any(
        (operator is sre.LITERAL and argument == ord(character))
        or (operator is sre.RANGE and argument[0] <= ord(character) <= argument[1])
        or (operator is sre.CATEGORY and categories[argument])
        for operator, argument in items
    )
    return is_listed != is_negated


def seconds(pattern: re.Pattern[Any], verb: Any, text: Any) -> float:
    """CPU time of this thread, which other processes of the machine hardly change."""
    started = time.thread_time()
    verb(pattern, text)
    return time.thread_time() - started


@cache
def limit_s() -> float:
    """CPU time above which a pattern is slow, on this machine and with this Python."""
    blanks = " " * LENGTHS[-1]
    return SHARE_OF_QUADRATIC * min(seconds(re.compile(r"\s*x"), re.Pattern.search, blanks) for _ in range(3))


def slow_attack(pattern: re.Pattern[Any], verbs: Collection[Any]) -> str | None:
    """The first attack that takes longer than the limit three times, if there is one."""
    for head, pump in dict.fromkeys(attacks(pattern)):
        for tail, length, verb in product(_TAILS, LENGTHS, verbs):
            text: Any = head + pump * (length // len(pump) + 1) + tail
            if isinstance(pattern.pattern, bytes):
                text = text.encode()
            if all(seconds(pattern, verb, text) > limit_s() for _ in range(3)):
                return f"{head!r} + {pump!r} × {length} + {tail!r}"
    return None


@pytest.mark.long
def test_every_pattern_takes_linear_time() -> None:
    tried = {name: slow_attack(*found) for name, found in patterns().items()}
    assert len(tried) > 100
    assert any(name.endswith("[rpk]") for name in tried), "patterns in mappings are tried, too"
    assert not {name: attack for name, attack in tried.items() if attack}


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "verb"),
    [
        (r"(a+)+b", re.Pattern.match),
        (r"\s*x", re.Pattern.search),
        (r"a:(\s*)\s*\d", re.Pattern.fullmatch),
    ],
)
def test_a_slow_pattern_is_found(pattern: str, verb: Any) -> None:
    assert slow_attack(re.compile(pattern), [verb])


@pytest.mark.long
def test_no_pattern_is_made_while_a_text_is_read() -> None:
    """So that the test above has them all."""
    inline = [call for path in (ROOT / "app").rglob("*.py") for call in _inline(path.read_text(encoding="utf-8"))]
    assert all(isinstance(call.args[0], ast.Constant) for call in inline)
