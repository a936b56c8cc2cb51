"""`python -m tests.release FOLDER`: everything that a release consists of, the same to the byte for the same sources.

    rackplan-….tar.gz, .whl          the source distribution, and the wheel that it gives; the client's two as well
    rackplan-…-image.tar             input of the build of the images
    rackplan-….cdx.json, NOTICE      the packages that are installed with it, as CycloneDX, and their licences
    SHA256SUMS                       of all of these, for `sha256sum --check`

A release has a section of the changelog and a tag, both named after the version; `--draft` builds without them.
"""

import hashlib
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from app import __version__
from tests.supply_chain import ROOT, license_of, pins, sbom

IMAGE = ("Dockerfile", ".dockerignore", "docker-compose.yml", "LICENSE", "README.md", "pyproject.toml")
IMAGE_FOLDERS = ("app", "client", "deploy", "docs", "migrations")


def lacks(version: str, changelog: str, tags: list[str]) -> Iterator[str]:
    """Missing parts of a release of this version, with the text of the changelog and the tags of the commit."""
    if not re.search(rf"^## {re.escape(version)}( |$)", changelog, re.MULTILINE):
        yield f"CHANGELOG.md has no section `## {version}`"
    if f"v{version}" not in tags:
        yield f"the commit has no tag `v{version}`"


def build(folder: Path) -> None:
    """Write the files of a release into an empty folder."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as unpacked:
        for project in (ROOT, ROOT / "client"):
            source = _built("sdist", project, folder)
            with tarfile.open(source) as archive:
                archive.extractall(unpacked, filter="data")
            _built("wheel", Path(unpacked, source.name.removesuffix(".tar.gz")), folder)
    (folder / f"rackplan-{__version__}-image.tar").write_bytes(_image())
    (folder / f"rackplan-{__version__}.cdx.json").write_bytes(sbom(lock))
    notice = [f"{pin.name} {pin.version}: {license_of(pin.name) or 'on other systems alone'}\n" for pin in pins(lock)]
    (folder / "NOTICE").write_text("Rackplan is installed with these packages.\n\n" + "".join(notice), encoding="utf-8")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="ascii")


def _built(target: str, project: Path, folder: Path) -> Path:
    before = set(folder.iterdir())
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder.absolute())]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    return (set(folder.iterdir()) - before).pop()


def _image() -> bytes:
    """A tar archive of the tracked files that the images are built from, without times or owners."""
    locks = [path.name for path in ROOT.glob("requirements*.lock")]
    listed = subprocess.run(
        ["git", "ls-files", "-z", *IMAGE, *locks, *IMAGE_FOLDERS], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(filter(None, listed.split("\0"))):
            content = (ROOT / name).read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return written.getvalue()


def main() -> int:
    """Build a release, or print its missing parts."""
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    folder = Path(next(argument for argument in sys.argv[1:] if argument not in options))
    tags = subprocess.run(["git", "tag", "--points-at"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    missing = list(lacks(__version__, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), tags.split()))
    if missing and "--draft" not in options:
        sys.stderr.writelines(f"{each}\n" for each in missing)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        sys.stderr.write(f"{folder} is not empty\n")
        return 1
    build(folder)
    sys.stdout.write((folder / "SHA256SUMS").read_text(encoding="ascii"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
