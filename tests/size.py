"""The size of `app`: `python -m tests.size` prints it by room, `--check` holds the total to `docs/size.md`.

Counted are lines of code: no blank lines, comments or docstrings. A function's statements include nested functions in
it; its McCabe number counts branches, loops, handlers, conditional expressions, comprehensions and `and`/`or`.
"""

import ast
import io
import re
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "size.md"
SLACK = 100
"""Lines by which `app` may be below its record before the record has to be lowered."""
MOST_STATEMENTS, MOST_BRANCHES = 25, 15
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.match_case)
_NO_CODE = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
)


@dataclass(frozen=True, slots=True)
class Size:
    """Of a file or a room."""

    lines: int = 0
    files: int = 0
    long_functions: int = 0
    branching_functions: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(
            self.lines + other.lines,
            self.files + other.files,
            self.long_functions + other.long_functions,
            self.branching_functions + other.branching_functions,
        )


def of_source(source: str) -> Size:
    """The size of a file."""
    nodes = [*ast.walk(ast.parse(source))]
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            code -= {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    functions = [[*ast.walk(node)] for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return Size(
        len(code),
        1,
        sum(sum(isinstance(node, ast.stmt) for node in function) - 1 > MOST_STATEMENTS for function in functions),
        sum(1 + sum(map(_branches, function)) > MOST_BRANCHES for function in functions),
    )


def _branches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return 1 + len(node.ifs) if isinstance(node, ast.comprehension) else isinstance(node, _BRANCHES)


def rooms() -> dict[str, Size]:
    """Each package below a package of `app`, the largest first, and the modules beside them."""
    sizes: dict[str, Size] = {}
    for path in sorted((ROOT / "app").rglob("*.py")):
        room = "/".join(path.relative_to(ROOT).parent.parts[:3])
        sizes[room] = sizes.get(room, Size()) + of_source(path.read_text(encoding="utf-8"))
    return dict(sorted(sizes.items(), key=lambda item: -item[1].lines))


def recorded() -> int:
    """Lines that `app` may have: the sum of the first column of the table."""
    rows = re.findall(r"^\| *([+−]?[\d,]+) *\|", RECORD.read_text(encoding="utf-8"), re.MULTILINE)
    return sum(int(row.replace(",", "").replace("−", "-")) for row in rows)


def complaint(lines: int, allowed: int) -> str | None:
    """How the record has to change for an `app` of that size, if it has to."""
    if lines > allowed:
        return f"app has {lines:,} lines, {lines - allowed:,} more than docs/size.md allows: shorten it, or add a row"
    if lines < allowed - SLACK:
        return f"app has {lines:,} lines, {allowed - lines:,} fewer than docs/size.md allows: add a row that lowers it"
    return None


def main() -> int:
    """Print the table, or the complaint with `--check`."""
    sizes = rooms()
    total = sum(sizes.values(), Size())
    if sys.argv[1:] == ["--check"]:
        found = complaint(total.lines, recorded())
        sys.stdout.write(f"{found or f'app has {total.lines:,} lines of {recorded():,}'}\n")
        return int(found is not None)
    sys.stdout.write(f"{'lines':>6} {'files':>5} {'>25 statements':>14} {'McCabe >15':>10}\n")
    for room, size in {"app, all of it": total, **sizes}.items():
        numbers = f"{size.lines:6} {size.files:5} {size.long_functions:14} {size.branching_functions:10}"
        sys.stdout.write(f"{numbers}  {room}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
