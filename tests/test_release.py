"""A release is the same to the byte for the same sources, and matches its checksums."""

import hashlib
import tarfile
from pathlib import Path

import pytest

from app import __version__
from tests.release import build, lacks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two releases, one after the other."""
    folders = [tmp_path_factory.mktemp("release") for _ in range(2)]
    for folder in folders:
        build(folder)
    return folders


@pytest.mark.long
def test_two_releases_are_alike_to_the_byte(folders: list[Path]) -> None:
    first, second = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders)
    assert first == second
    kinds = {path.rpartition(".")[2] for path in first}
    assert kinds == {"gz", "whl", "tar", "json", "NOTICE", "SHA256SUMS"}


@pytest.mark.long
def test_checksums_cover_every_file(folders: list[Path]) -> None:
    folder = folders[0]
    lines = [line.split("  ") for line in (folder / "SHA256SUMS").read_text().splitlines()]
    assert {name: digest for digest, name in lines} == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name != "SHA256SUMS"
    }


def test_the_image_is_built_from_tracked_files_alone(folders: list[Path]) -> None:
    with tarfile.open(folders[0] / f"rackplan-{__version__}-image.tar") as archive:
        names = archive.getnames()
    assert {"Dockerfile", "requirements.lock", "requirements-without-spark.lock", "app/main.py"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith(("tests", ".git/", ".data"))]


def test_a_release_has_a_section_of_the_changelog_and_a_tag() -> None:
    assert not list(lacks("1.2.0", "# Changelog\n\n## 1.2.0 – 2026-11-26\n", ["v1.2.0"]))
    assert list(lacks("1.2.0", "# Changelog\n\n## 1.2.01\n\n## Unreleased\n", ["v1.2"])) == [
        "CHANGELOG.md has no section `## 1.2.0`",
        "the commit has no tag `v1.2.0`",
    ]
