"""The artifacts of a release of Kafka: `python -m tests.kafka.jars 4.4.0` resolves them by Maven into `.kafka/4.4.0`.

Their SHA-256 are pinned in `checksums`: Maven's files are compared before use.
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
LOCAL_REMOTE_STORAGE = {
    "4.0.2": "b5143ab2aaf89d20e0194b484442767242c131eaf76a6f0cadb42f9c4fde11cf",
    "4.1.2": "c0173663d7b3e8543aa3b9feaf7539a3ecee39b0b5b9b36096a95c9e20f1d833",
    "4.3.1": "f3236936854c13815ffaa7f35a3f2d6861c125616cba5395b538b8680dded886",
}
"""By release, the SHA-256 of the artifact of Kafka's own tests that keeps remote segments in a local folder.

Other releases, as 4.2.2 and 4.4.0, were published without it.
"""
_RESOLVED_WITHIN_S = 600


class JarsDiffer(Exception):
    """A resolved file differs from its pinned digest."""


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


def local_remote_storage(release: str) -> Path:
    """The artifact with `LocalTieredStorage` of a release in `LOCAL_REMOTE_STORAGE`. May raise `JarsDiffer`."""
    artifact = f"kafka-storage-{release}-test.jar"
    path = FOLDER / artifact
    if not path.is_file():
        options = [f"-Dartifact=org.apache.kafka:kafka-storage:{release}:jar:test", f"-DoutputDirectory={FOLDER}"]
        command = ["mvn", "--quiet", "--batch-mode", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"]
        subprocess.run([*command, *options], check=True, timeout=_RESOLVED_WITHIN_S)
    if hashlib.sha256(path.read_bytes()).hexdigest() != LOCAL_REMOTE_STORAGE[release]:
        path.unlink()
        raise JarsDiffer(f"{artifact} is not as pinned")
    return path


def main() -> None:
    """Resolve the releases that are named, or name missing ones."""
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
