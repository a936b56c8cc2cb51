"""The artifacts of a release of Kafka: `python -m tests.kafka.jars 4.4.0` resolves them by Maven into `.kafka/4.4.0`.

Their SHA-256 are pinned in `checksums`: what Maven resolved is compared before it is used.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CHECKSUMS = HERE / "checksums"
FOLDER = HERE.parents[1] / ".kafka"
RELEASES = tuple(sorted(path.stem for path in CHECKSUMS.glob("*.txt")))
"""Releases whose checksums are pinned, the oldest first."""
NEWEST = RELEASES[-1]
_RESOLVED_WITHIN_S = 600


class JarsDiffer(Exception):
    """What was resolved is not what is pinned."""


def pinned(release: str) -> dict[str, str]:
    """The SHA-256 of each file of a release."""
    lines = (CHECKSUMS / f"{release}.txt").read_text(encoding="ascii").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def resolve(release: str) -> Path:
    """The folder with the artifacts of a release, which Maven fills if it is not there.

    Raises
    ------
    JarsDiffer : a file is missing, is one too many, or has another checksum.
    """
    folder = FOLDER / release
    if folder.is_dir():
        return folder
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as parts:
        target = Path(parts, release)
        command = ["mvn", "--quiet", "--batch-mode", "--file", os.fspath(HERE / "pom.xml")]
        options = [f"-Dkafka.version={release}", "-DincludeScope=runtime", f"-DoutputDirectory={target}"]
        done = subprocess.run(
            [*command, "dependency:copy-dependencies", *options], check=False, timeout=_RESOLVED_WITHIN_S
        )
        if done.returncode:
            sys.exit(f"Maven could not resolve the artifacts of Kafka {release}")
        found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in target.iterdir()}
        if found != pinned(release):
            names = ", ".join(sorted(name for name, _ in found.items() ^ pinned(release).items()))
            raise JarsDiffer(f"Kafka {release}: not as pinned in {CHECKSUMS.name}: {names}")
        target.replace(folder)
    return folder


def main() -> None:
    """Resolve the releases that are named, or say what is missing."""
    releases = sys.argv[1:] or [NEWEST]
    if "all" in releases:
        releases = list(RELEASES)
    if shutil.which("mvn") is None:
        sys.exit("Maven resolves Kafka's artifacts, and there is no mvn on the path")
    for release in releases:
        if release not in RELEASES:
            sys.exit(f"Kafka {release} has no pinned checksums; there are {', '.join(RELEASES)}")
        sys.stdout.write(f"{resolve(release)}\n")


if __name__ == "__main__":
    main()
