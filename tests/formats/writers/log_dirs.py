"""The answer of `kafka-log-dirs --describe`."""

import orjson

from app.formats.clusters.log_dirs import BrokerLogDirs, LogDir, LogDirReplica, LogDirs

_QUERYING = "Querying brokers for log directories information"
_RECEIVED = "Received log directory information from brokers"


def write(log_dirs: LogDirs) -> str:
    """Print the answer as the tool does, with its prose if it had any."""
    document = orjson.dumps({"brokers": [_broker_members(broker) for broker in log_dirs.brokers], "version": 1})
    prose = ""
    if log_dirs.requested is not None:
        prose = f"{_QUERYING}\n{_RECEIVED} {','.join(map(str, log_dirs.requested))}\n"
    return f"{prose}{document.decode()}\n"


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
        "offsetLag": replica.offset_lag,
        "isFuture": replica.is_future,
    }
