"""`docs/client.md`: its programs print the shown output, one after another, against the real service."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from app.jobs.spark import Spark
from app.store.database import Database
from tests.conftest import ROOT
from tests.documents import Document, settled
from tests.jobs.working import working

DOC = Document(ROOT / "docs" / "client.md")
PROGRAMS = [
    (program, printed)
    for (kind, program), (shown, printed) in pairwise(DOC.blocks)
    if (kind, shown) == ("python", "text")
]
_RUN = """\
import contextlib, io, json, sys
printed, names = [], {"__name__": "__main__"}
for program in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(program, names)
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


@pytest.mark.slow
def test_every_program_prints_what_is_shown(
    client: httpx.Client, database: Database, spark: Spark, tmp_path: Path
) -> None:
    programs = [program.replace("/tmp/batches/", f"{tmp_path}/batches/") for program, _ in PROGRAMS]  # noqa: S108
    with working(database, spark):
        done = subprocess.run(
            [sys.executable, "-c", _RUN],
            cwd=ROOT,
            env={**os.environ, "RACKPLAN_URL": str(client.base_url), "PYTHONPATH": str(ROOT / "client")},
            input=json.dumps(programs),
            capture_output=True,
            text=True,
            check=False,
            timeout=400,
        )
    assert done.returncode == 0, done.stderr
    for (program, shown), printed in zip(PROGRAMS, json.loads(done.stdout), strict=True):
        assert settled(printed) == settled(shown), program
    assert (tmp_path / "batches" / "README.txt").exists()


def test_it_takes_ten_lines_from_a_cluster_to_its_batches() -> None:
    assert len(list(filter(None, PROGRAMS[0][0].splitlines()))) <= 10
