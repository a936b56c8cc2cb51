"""The nine-broker sample as if each broker had several disks (JBOD)."""

import orjson

from app.core.model import Cluster
from tests.formats.strategies import assembled, sample

DISK_BYTES = 20_000_000


def log_dirs_text(directories: int = 3, *, total_bytes: int | None = DISK_BYTES) -> str:
    """`kafka-log-dirs --describe` with half of a broker's replicas in its first directory."""
    prose, document = sample("kafka-log-dirs-describe.txt").rsplit("\n", 2)[:2]
    answer = orjson.loads(document)
    for broker in answer["brokers"]:
        replicas = sorted(broker["logDirs"][0]["partitions"], key=lambda replica: -replica["size"])
        parts: list[list[object]] = [[] for _ in range(directories)]
        for place, replica in enumerate(replicas):
            parts[0 if place % 2 else place // 2 % directories].append(replica)
        broker["logDirs"] = [
            {"logDir": f"/data/d{number}", "error": None, "partitions": part}
            | ({} if total_bytes is None else {"totalBytes": total_bytes, "usableBytes": total_bytes // 2})
            for number, part in enumerate(parts, 1)
        ]
    return f"{prose}\n{orjson.dumps(answer).decode()}\n"


def jbod(directories: int = 3, *, total_bytes: int | None = DISK_BYTES) -> Cluster:
    """The cluster of the samples, with these directories."""
    return assembled(
        "nine",
        brokers=sample("kafka-broker-api-versions.txt"),
        topics=sample("kafka-topics-describe.txt"),
        log_dirs=log_dirs_text(directories, total_bytes=total_bytes),
    ).cluster
