"""`make run` that cannot install: the last line of its text names the step, the cause and what to do.

`make` itself ends with a line of its own, which names the target.
"""

import io
import os
import random
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

CLOSED_PORT = 1  # nothing listens there
LOCKED = "requirements-build.lock"
QUIET = {"PIP_CONFIG_FILE": os.devnull}
NO_NETWORK = {"PIP_INDEX_URL": f"http://127.0.0.1:{CLOSED_PORT}/simple", "PIP_RETRIES": "0"}


def last_line(*variables: str, **settings: str) -> str:
    """The last line of `make run` before that of `make`, without any setting of pip but these."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE"))}
    run = subprocess.run(
        ["make", "run", *variables], cwd=ROOT, env={**inherited, **QUIET, **settings},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120,
    )  # fmt: skip
    *_, line, of_make = run.stdout.splitlines()
    assert run.returncode == 2
    assert of_make.startswith("make: *** ")
    return line


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with pip alone."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder


def test_a_python_that_is_not_there_is_named() -> None:
    line = last_line("VENV=/nonexistent", "PYTHON=python3.99")
    assert line == "there is no python3.99; name a Python 3.11 or newer: make run PYTHON=python3.13"


def test_an_environment_that_cannot_be_made_says_which(tmp_path: Path) -> None:
    """A file is in its place. Nothing is left that the next run would take for an environment."""
    (tmp_path / "file").touch()
    line = last_line(f"VENV={tmp_path}/file/environment", f"PYTHON={sys.executable}")
    assert line.startswith(f"{sys.executable} -m venv {tmp_path}/file/environment failed")


@pytest.mark.long
def test_without_a_network_it_names_the_settings_of_a_mirror(environment: Path) -> None:
    line = last_line(f"VENV={environment}", **NO_NETWORK, PIP_CACHE_DIR=str(environment / "cache"))
    assert line.startswith(f"pip could not install {LOCKED}: no package index answers with this package; PIP_INDEX_URL")
    assert line.endswith("Then run make again.")


@pytest.mark.long
def test_a_damaged_wheel_says_how_to_empty_the_cache(environment: Path, tmp_path: Path) -> None:
    """pip compares the hash of a wheel from its cache, as of one from a folder."""
    name, _, version = (ROOT / LOCKED).read_text(encoding="utf-8").split()[0].partition("==")
    (tmp_path / f"{name}-{version}-py3-none-any.whl").write_bytes(b"PK\x03\x04 cut off")
    line = last_line(f"VENV={environment}", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert line.startswith(
        f"pip could not install {LOCKED}: a file of pip's cache or of the package index is damaged; "
    )
    assert f"{environment}/bin/python -m pip cache purge" in line


BACKEND = """
import zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(f"{folder}/built-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("built.bin", open("data.bin", "rb").read())
        wheel.writestr("built-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: built\\nVersion: 1\\n")
        wheel.writestr("built-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("built-1.dist-info/RECORD", "")
    return "built-1-py3-none-any.whl"
"""
DATA_BYTES = 400_000


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source archive, which builds itself, and with the file that requires it."""
    folder = tmp_path_factory.mktemp("archives")
    members = {
        "pyproject.toml": b"[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n",
        "backend.py": BACKEND.encode(),
        "PKG-INFO": b"Metadata-Version: 2.1\nName: built\nVersion: 1\n",
        "data.bin": random.Random(7).randbytes(DATA_BYTES),
    }
    with tarfile.open(folder / "built-1.tar.gz", "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(f"built-1/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    (folder / "built.lock").write_text("built==1\n")
    return folder


class TestPackagesThatAreBuiltHere:
    """As PySpark is: pip builds a wheel of the source archive, and has it in its cache for the next environment."""

    @staticmethod
    def install(environment: Path, archives: Path, **settings: str) -> subprocess.CompletedProcess[str]:
        """Install the archive as the targets of the Makefile do."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        return subprocess.run(
            ["sh", ".ci/install", environment, "--force-reinstall", "-r", f"{archives}/built.lock"],
            cwd=ROOT, env={**inherited, **QUIET, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(archives), **settings},
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    @pytest.mark.long
    @pytest.mark.parametrize("damage", ["flipped", "cut off"])
    def test_a_damaged_wheel_of_the_cache(self, environment: Path, archives: Path, tmp_path: Path, damage: str) -> None:
        first = self.install(environment, archives, PIP_CACHE_DIR=str(tmp_path))
        assert (first.returncode, first.stdout, first.stderr) == (0, "", "")
        [wheel] = tmp_path.rglob("*.whl")
        content = bytearray(wheel.read_bytes())
        content[DATA_BYTES // 2] ^= 1
        wheel.write_bytes(content if damage == "flipped" else content[: DATA_BYTES // 2])
        again = self.install(environment, archives, PIP_CACHE_DIR=str(tmp_path))
        assert again.returncode == 1
        assert again.stderr.splitlines()[-1] == (
            f"pip could not install {archives}/built.lock: a file of pip's cache or of the package index is damaged; "
            f"to empty the cache: {environment}/bin/python -m pip cache purge. Then run make again."
        )

    @pytest.mark.long
    @pytest.mark.slow
    @pytest.mark.skipif(os.geteuid() != 0, reason="pip does without a cache that an ordinary user cannot write")
    def test_a_home_that_cannot_be_written(self, environment: Path, archives: Path) -> None:
        failed = self.install(environment, archives, HOME="/proc", XDG_CACHE_HOME="")
        assert "a folder cannot be written" in failed.stderr.splitlines()[-1]
        mended = self.install(environment, archives, HOME="/proc", XDG_CACHE_HOME="", PIP_NO_CACHE_DIR="1")
        assert mended.returncode == 0, mended.stderr

    @pytest.mark.slow
    def test_a_full_disk(self, environment: Path, archives: Path, tmp_path: Path) -> None:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DATA_BYTES // 2}", "rackplan-full-disk", str(tmp_path)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            pytest.skip("this account mounts no file system")
        try:
            failed = self.install(environment, archives, TMPDIR=str(tmp_path), PIP_NO_CACHE_DIR="1")
        finally:
            subprocess.run(["umount", tmp_path], check=True)
        assert "the disk is full; Rackplan with its dependencies takes 1.5 GB" in failed.stderr.splitlines()[-1]


def test_every_document_names_the_same_pythons() -> None:
    """The metadata, both guides, mypy and ruff; the floor is the first of them."""
    project, client = (
        tomllib.loads((ROOT / name).read_text(encoding="utf-8")) for name in ("pyproject.toml", "client/pyproject.toml")
    )
    *_, floor = project["project"]["requires-python"].rpartition(">=")
    run = [each.rpartition(" ")[2] for each in project["project"]["classifiers"] if ":: 3." in each]
    assert run[0] == floor == project["tool"]["mypy"]["python_version"]
    assert project["tool"]["ruff"]["target-version"] == f"py{floor.replace('.', '')}"
    assert client["project"]["requires-python"] == project["project"]["requires-python"]
    stated = f"The tests were run with Python {', '.join(run[:-1])} and {run[-1]}"
    for name in ("docs/installation.md", "CONTRIBUTING.md"):
        assert stated in " ".join((ROOT / name).read_text(encoding="utf-8").split()), name
