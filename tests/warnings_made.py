"""The codes of the warnings that a part of the source makes."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.services.cautions import CAUTIONS, TEXTS


def codes_made(files: Iterable[Path]) -> set[str]:
    """Codes of `Caution`, `caution` and `Finding`; of a function that calls one with a variable, all that it names."""
    return {code for file in files for code in _codes(ast.parse(file.read_text(encoding="utf-8")))}


def _codes(module: ast.Module) -> Iterator[str]:
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef):
            continue
        named = _texts(function) & (CAUTIONS.keys() | TEXTS.keys())
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in {"Caution", "caution", "Finding"}:
                first = call.args[0] if call.args else call.keywords[0].value
                yield from (text.partition(".")[0] for text in _texts(first) or named)


def _texts(node: ast.AST) -> set[str]:
    constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return {text for text in constants if isinstance(text, str)}
