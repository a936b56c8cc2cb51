"""Code for executors, and its place there."""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from app.jobs import shipping
from app.services.sweeps import KINDS
from tests.conftest import ROOT


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of the machine's that is unused yet."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_same_code_is_the_same_archive(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = shipping.write_archive(tmp_path / "a"), shipping.write_archive(tmp_path / "b")
    assert (first.name, first.read_bytes()) == (second.name, second.read_bytes())


def test_the_archive_has_what_reads_and_scores_every_kind_and_no_driver(tmp_path: Path) -> None:
    """The readers of all kinds, which payloads name, and the kernels are imported where there is nothing else."""
    shipped = tmp_path / "shipped"
    with zipfile.ZipFile(shipping.write_archive(tmp_path)) as archive:
        archive.extractall(shipped)
    readers = [kind.read_sweep.__module__ for kind in KINDS.values() if kind.read_sweep is not None]
    code = (
        f"import importlib, sys; sys.path.insert(0, {str(shipped)!r});"
        f"[importlib.import_module(name) for name in {['app.jobs.kernels.registry', *readers]}];"
        "assert sys.modules['app'].__file__.startswith(sys.path[0]);"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    drivers = {"fastapi", "sqlalchemy", "psycopg", "structlog", "pyspark", "pandas", "uvicorn"}
    assert drivers.isdisjoint(done.stdout.split())


def test_it_is_unpacked_once_and_mended_where_files_are_missing(tmp_path: Path, temporary: Path) -> None:
    """Machines clear their temporary folders file by file, and a partial folder must not be imported."""
    archive = shipping.write_archive(tmp_path)
    folder = shipping.unpacked(archive)
    assert folder.is_relative_to(temporary)
    compiled = folder / "app" / "core" / "kept.loop"
    compiled.touch()
    before = (folder / "app" / "__init__.py").stat()
    assert shipping.unpacked(archive) == folder
    assert (folder / "app" / "__init__.py").stat() == before
    (folder / "app" / "core" / "model.py").unlink()
    (folder / "app" / "__init__.py").write_text("cut sho")
    assert shipping.unpacked(archive) == folder
    assert (folder / "app" / "core" / "model.py").read_bytes() == (ROOT / "app" / "core" / "model.py").read_bytes()
    assert (folder / "app" / "__init__.py").read_bytes() == (ROOT / "app" / "__init__.py").read_bytes()
    assert compiled.exists(), "what was compiled stays"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path: Path, temporary: Path, mode: int) -> None:
    """Its name can be guessed: its first creator could run any code as this account."""
    shared = temporary / f"rackplan-{os.getuid()}"
    shared.mkdir()
    shared.chmod(mode)
    folder = shipping.unpacked(shipping.write_archive(tmp_path))
    assert not folder.is_relative_to(shared)
    assert folder.parent.stat().st_mode & 0o077 == 0


def test_a_link_in_its_place_is_not_followed(tmp_path: Path, temporary: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (temporary / f"rackplan-{os.getuid()}").symlink_to(elsewhere)
    folder = shipping.unpacked(shipping.write_archive(tmp_path))
    assert not folder.resolve().is_relative_to(elsewhere)
    assert not list(elsewhere.iterdir())


@pytest.mark.long
def test_loops_compiled_from_the_archive_are_found_by_the_next_process(tmp_path: Path) -> None:
    """Another process, another copy of the archive in another folder, as another executor has it: nothing compiles."""
    code = (
        "import sys; from pathlib import Path; from app.jobs import shipping; archive = Path(sys.argv[1]);"
        "folder = shipping.unpacked(archive); sys.path.insert(0, str(folder));"
        "[sys.modules.pop(name) for name in list(sys.modules) if name.split('.')[0] == 'app'];"
        "from app.core.keys import hashes, hashes_kernel, model;"
        "hashes.murmur2(model.keys_of([b'a']));"
        "assert hashes_kernel.__file__.startswith(str(folder));"
        "stats = hashes_kernel.murmur2.dispatcher.stats;"
        "print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))"
    )
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment |= {"TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    said = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        command = [sys.executable, "-c", code, str(shipping.write_archive(tmp_path / name))]
        said.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert said == ["0 1\n", "1 0\n"]
