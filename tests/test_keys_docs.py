"""`docs/keys.md` agrees with the code, and shows the real output."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from app.core.keys.model import keys_of
from app.core.keys.null_keys import NULL_KEY_POLICIES
from app.core.keys.partitioners import CLIENTS, PARTITIONERS, partition
from app.core.keys.resize import expected_moved_share, resize
from app.services.keys import NullKeys
from tests.conftest import ROOT
from tests.documents import Document, code, run

DOC = Document(ROOT / "docs" / "keys.md")
PROGRAMS = {
    name: code
    for kind, code in DOC.blocks
    if kind == "python"
    for name in re.findall(r'^"""(\w+\.py):', code, re.MULTILINE)
}


def without_key(partitioner: str) -> str:
    policy = PARTITIONERS[partitioner].null_keys
    return "hashed as an empty key" if policy is None else code(policy)


class TestTables:
    """Compared with the registries, row by row and in their order."""

    def test_clients(self) -> None:
        assert DOC.table("client", "language", "versions", "partitioner", "without key", "source") == [
            (
                client.library,
                client.language,
                client.versions,
                code(client.partitioner),
                without_key(client.partitioner),
                client.source,
            )
            for client in CLIENTS
        ]

    def test_partitioners(self) -> None:
        assert DOC.table("partitioner", "what it does", "without key") == [
            (code(one.name), one.summary, without_key(one.name)) for one in PARTITIONERS.values()
        ]

    def test_policies(self) -> None:
        assert DOC.table("policy", "where the record goes") == [
            (code(policy.name), policy.summary) for policy in NULL_KEY_POLICIES.values()
        ]

    def test_what_a_producer_knows(self) -> None:
        defaults = {field.strip("`"): default for field, default, _ in DOC.table("field", "default", "what")}
        assert list(defaults) == list(NullKeys.__dataclass_fields__)
        documented = {name: int(default.strip("`")) for name, default in defaults.items() if default.startswith("`")}
        assert documented == {name: getattr(NullKeys(), name) for name in ("batch_bytes", "record_bytes")}

    def test_expected_shares(self) -> None:
        """Of the formula, and of keys that are hashed."""
        keys = keys_of([b"key-%d" % number for number in range(20_000)])
        rows = DOC.table("from", "to", "stay")
        assert rows
        for before, after, stay in ((int(a), int(b), float(Fraction(share))) for a, b, share in rows):
            assert 1 - expected_moved_share(before, after) == pytest.approx(stay)
            placed = [partition(PARTITIONERS["murmur2"], keys, count) for count in (before, after)]
            measured = resize(*placed, partitions_before=before, partitions_after=after)
            assert 1 - measured.moved_share == pytest.approx(stay, abs=0.02)


@pytest.mark.slow
class TestBlocks:
    """Run as a reader runs them."""

    def test_every_command_prints_what_is_shown(self, client: httpx.Client) -> None:
        address = str(client.base_url).rstrip("/")
        shown = list(DOC.commands())
        assert len(shown) == 3
        for command, printed in shown:
            assert run(command, address) == printed

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """The recipe's programs, under the names that they give themselves."""
        assert set(PROGRAMS) == {"my_partitioners.py", "my_service.py"}
        for name, program in PROGRAMS.items():
            (tmp_path / name).write_text(program, encoding="utf-8")
        return tmp_path

    def test_the_recipe_prints_what_is_shown(self, folder: Path) -> None:
        printed = next(
            text for (_, program), (_, text) in pairwise(DOC.blocks) if program == PROGRAMS["my_partitioners.py"]
        )
        assert self._python(folder, ["my_partitioners.py"]) == printed

    @pytest.mark.long
    def test_the_service_knows_what_the_recipe_registers(self, folder: Path) -> None:
        """In a process of its own, since the registry is one for all."""
        program = """
import my_service
schemas = my_service.create_app().openapi()["components"]["schemas"]
print("by_region" in str(schemas["PlaceKeysRequest"]["properties"]["partitioner"]))
"""
        assert self._python(folder, ["-c", program]).strip() == "True"

    def _python(self, folder: Path, arguments: Sequence[str]) -> str:
        paths = os.pathsep.join([str(folder), str(ROOT)])
        env = os.environ | {"PYTHONPATH": paths, "RACKPLAN_DATABASE_URL": "postgresql://x/y"}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()
