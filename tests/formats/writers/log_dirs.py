"""The answer of `kafka-log-dirs --describe`."""

import orjson

from app.formats.clusters.log_dirs import BrokerLogDirs, LogDir, LogDirReplica, LogDirs


def write(log_dirs: LogDirs) -> str:
    """Print the answer as the tool does, with its prose."""
    document = orjson.dumps({"brokers": [_broker_members(broker) for broker in log_dirs.brokers], "version": 1})
    brokers = ",".join(str(broker.broker) for broker in log_dirs.brokers)
    prose = (
        f"Querying brokers for log directories information\nReceived log directory information from brokers {brokers}"
    )
    return f"{prose}\n{document.decode()}\n"


def _broker_members(broker: BrokerLogDirs) -> dict[str, object]:
    return {"broker": broker.broker, "logDirs": [_log_dir_members(log_dir) for log_dir in broker.log_dirs]}


def _log_dir_members(log_dir: LogDir) -> dict[str, object]:
    return {
        "partitions": [_replica_members(replica) for replica in log_dir.replicas],
        # Before `error` in the order of a Java HashMap.
        **({} if log_dir.cordoned is None else {"isCordoned": log_dir.cordoned}),
        "error": log_dir.error,
        "logDir": log_dir.path,
        **({} if log_dir.total_bytes is None else {"totalBytes": log_dir.total_bytes}),
        **({} if log_dir.usable_bytes is None else {"usableBytes": log_dir.usable_bytes}),
    }


def _replica_members(replica: LogDirReplica) -> dict[str, object]:
    return {
        "partition": f"{replica.topic}-{replica.partition}",
        "size": replica.size_bytes,
        "offsetLag": 0,
        "isFuture": replica.is_future,
    }
