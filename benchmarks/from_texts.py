"""`rackplan plan reassignment` from the texts of Kafka's tools to the plan's file: a whole process, its start included.

The cluster is that of reassignments.py with 100,000 partitions: 8 MB of `kafka-topics --describe`, 25 MB of
`kafka-log-dirs --describe`, 300 brokers, one of which is removed.
"""

import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from app.core.model import Cluster, Topic
from app.formats.clusters.log_dirs import BrokerLogDirs, LogDir, LogDirReplica, LogDirs
from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription
from benchmarks.measure import Floor, Result, interleaved
from benchmarks.reassignments import BROKERS, REMOVED, cluster_of
from tests.formats.writers import log_dirs as written_log_dirs
from tests.formats.writers import topic_describe as written_topics

PARTITIONS = 100_000
RUNS = 5
TARGET_MS = 3_000.0
_RACKPLAN = Path(sys.executable).with_name("rackplan")


def run() -> Iterator[Result]:
    """Wall and processor time from texts to the plan's JSON, and to the file that Kafka's tool takes."""
    cluster = cluster_of(PARTITIONS)
    with TemporaryDirectory() as folder:
        texts = _written(cluster, Path(folder))
        for written in ("json", "reassignment"):
            yield _measured(texts, Path(folder, f"plan.{written}"), written)


def _measured(texts: list[Path], output: Path, written: str) -> Result:
    export = [] if written == "json" else ["--export", written]
    removed = ["--remove-broker", str(REMOVED[0]), *export, "--output", str(output)]
    processor_ms: list[float] = []
    call = partial(_finish, [str(_RACKPLAN), "plan", "reassignment", *map(str, texts), *removed], processor_ms)
    call()
    times = interleaved({"plan": call, "copy": partial(_copy, [*texts, output])}, runs=RUNS, warm_ups=0)
    return Result(
        name="plan a reassignment from texts",
        parameters={"partitions": PARTITIONS, "brokers": BROKERS, "removed": 1, "output": written},
        times=times["plan"],
        floor=Floor("reading the texts' bytes and writing the plan's", times["copy"]),
        is_in_process=False,
        target_ms=TARGET_MS,
        facts={
            "process_cpu_median_ms": round(median(processor_ms[1:]), 1),
            "text_bytes": sum(text.stat().st_size for text in texts),
            "output_bytes": output.stat().st_size,
        },
    )


def _finish(command: list[str], processor_ms: list[float]) -> None:
    """Run a process to its end; adds the time that it took on all processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor_ms.append((after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000)


def _copy(files: list[Path]) -> None:
    contents = [file.read_bytes() for file in files]
    files[-1].write_bytes(contents[-1])


def _written(cluster: Cluster, folder: Path) -> list[Path]:
    """The files with what Kafka's tools print of the cluster."""
    brokers = "".join(
        [f"kafka-{one.id}:9092 (id: {one.id} rack: {one.rack} isFenced: false) -> (\n)\n" for one in cluster.brokers]
    )
    answers = {
        "brokers": brokers,
        "topics": written_topics.write(map(_described, cluster.topics)),
        "log-dirs": written_log_dirs.write(_log_dirs(cluster)),
    }
    files = []
    for name, text in answers.items():
        files.append(folder / f"{name}.txt")
        files[-1].write_text(text)
    return files


def _described(topic: Topic) -> TopicDescription:
    replicas = list(map(tuple, topic.replicas.tolist()))
    rows = tuple([PartitionDescription(number, row[0], row, row) for number, row in enumerate(replicas)])
    return TopicDescription(topic.name, len(replicas[0]), rows)


def _log_dirs(cluster: Cluster) -> LogDirs:
    on: dict[int, list[LogDirReplica]] = defaultdict(list)
    for topic in cluster.topics:
        for number, (row, size) in enumerate(zip(topic.replicas.tolist(), topic.size_bytes.tolist(), strict=True)):
            for broker in row:
                on[broker].append(LogDirReplica(topic.name, number, size))
    ids = [broker.id for broker in cluster.brokers]
    return LogDirs(tuple([BrokerLogDirs(id_, (LogDir("/data", tuple(on[id_])),)) for id_ in ids]))
