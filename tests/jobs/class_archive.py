"""An archive of the classes that Spark loads: a JVM that maps it starts in half the time.

A session of Spark loads 15,000 classes, which a JVM otherwise parses and verifies each time. The suite starts some 40
JVMs. `python -m tests.jobs.class_archive` makes the archive, as `make test` does once for each environment. Without
one, and if it is of another Java or class path, JVMs start as always; a damaged one ends them, so that none has its
name before it is whole.

Source: JEP 310, "Application Class-Data Sharing".
"""

import functools
import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import pyspark

from app.jobs import java
from app.jobs.spark import Spark
from tests.jobs import keys

FOLDER = Path(sys.prefix)


@functools.cache
def path() -> Path:
    """The archive of this environment's Spark, for the Java that Spark runs on here."""
    home = java.find().home
    release = home / "release"
    runtime = f"{home} {release.read_text() if release.is_file() else ''}"
    return FOLDER / f"spark-{pyspark.__version__}-{sha256(runtime.encode()).hexdigest()[:8]}.jsa"


def options() -> str:
    """The options of a JVM that make it use the archive; none if there is no archive."""
    return f"-XX:SharedArchiveFile={path()} -Xlog:cds=off -Xlog:class+path=off" if path().exists() else ""


def make() -> Path:
    """Make the archive of what a session and its first job load, unless it exists; its path."""
    if path().exists():
        return path()
    with tempfile.TemporaryDirectory(prefix="rackplan-classes-") as folder:
        loaded, made = Path(folder, "loaded"), path().with_suffix(f".{os.getpid()}")
        class_path = _record(loaded, Path(folder, "spark.conf"))
        command = [str(java.find().executable), "-Xshare:dump", "-XX:+UseSerialGC", "-Xlog:disable", "-cp", class_path]
        command += [f"-XX:SharedClassListFile={loaded}", f"-XX:SharedArchiveFile={made}"]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        made.replace(path())  # other processes see all of it or nothing
    return path()


def _record(loaded: Path, properties: Path) -> str:
    """Run a job whose JVM lists the classes that it loads; the JVM's class path."""
    properties.write_text(f"spark.driver.extraJavaOptions -XX:DumpLoadedClassList={loaded}\n")
    with Spark("local[2]", properties=properties) as spark:
        assert keys.counts(keys.hashed(spark, keys.numbered(100, tasks=2), group="classes"))
        jvm = spark.session().sparkContext._jvm  # PySpark has no public way to it
        assert jvm is not None
        return str(jvm.java.lang.System.getProperty("java.class.path"))


if __name__ == "__main__":
    make()
