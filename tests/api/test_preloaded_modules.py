"""Modules shared by slots: one that a slot imports by itself takes memory in each of them, and time of a request."""

import subprocess
import sys
from collections.abc import Mapping
from typing import Final

import orjson
import pytest

NOT_IN_SLOTS: Final[Mapping[str, str]] = {
    "alembic": "the schema is migrated before there are slots",
    "app.api.http.identification": "the process that listens identifies browsers",
    "app.api.start.seeding": "the process that listens stores the examples",
    "app.services.oidc": "services without an issuer do without",
    "app.web.sign_in": "services without an issuer do without",
    "opentelemetry": "services that are not traced do without",
    "vl_convert": "4 MB, for pictures as PNG",
}
"""Beginnings of the names of modules that functions import and slots do not share, and why."""

# Of the modules of the application that slots share: functions' imports that are not imported with them.
FOUND = """
import ast, importlib, re, sys
import orjson
from app import main
for name in main._PRELOADED:
    importlib.import_module(name)
shared, found = set(sys.modules), set()
for name in sorted(shared):
    path = getattr(sys.modules[name], "__file__", None)
    if name.partition(".")[0] != "app" or path is None:
        continue
    source = open(path, encoding="utf-8").read()
    if not re.search(r"^ +(import|from) ", source, re.MULTILINE):
        continue
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in {each for function in functions for each in ast.walk(function)}:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} - shared
        elif isinstance(node, ast.ImportFrom) and node.module not in shared:
            found.add(node.module)
        elif isinstance(node, ast.ImportFrom):
            has = vars(sys.modules[node.module])
            found |= {f"{node.module}.{alias.name}" for alias in node.names if alias.name not in has}
sys.stdout.buffer.write(orjson.dumps(sorted(found)))
"""


@pytest.mark.long
def test_slots_share_all_that_their_functions_import() -> None:
    done = subprocess.run([sys.executable, "-c", FOUND], capture_output=True, check=True)
    found: list[str] = orjson.loads(done.stdout)
    assert [name for name in found if not name.startswith(tuple(NOT_IN_SLOTS))] == []
    unused = [beginning for beginning in NOT_IN_SLOTS if not any(name.startswith(beginning) for name in found)]
    assert unused == []
