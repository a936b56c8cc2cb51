"""The log directories of brokers as disks: where replicas are, which may receive, and the limit of each."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import NO_LOG_DIR, NO_REPLICA, Broker, Cluster, Int32s, Int64s, LogDirectory, Topic
from app.core.reassignment.model import NO_LIMIT
from app.core.reassignment.problem import LogDirTable
from app.core.replica_lists import stacked, sums_by
from app.errors import every as errors
from app.errors.every import FieldPath, quoted
from app.services.cautions import Caution, caution
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.loads import PartitionSizes
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.parts import EVERY, LimitsRequest, LogDirsRequest
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.snapshots import log_dir_index

MOST_BYTES = 1 << 52
"""A larger directory counts as this one, 4 PiB, so that sums of a thousand do not overflow."""
_DRAIN = ("log_dirs", "drain")
_LIMITS = ("limits", "log_dirs")


@dataclass(frozen=True, slots=True, eq=False)
class StatedLogDirs(LogDirTable):
    """The disks of a request. path : the field that limits or chooses directories."""

    path: FieldPath
    cautions: tuple[Caution, ...]


def log_dirs_of(
    stated: ReassignmentRequest, cluster: Cluster, brokers: BrokerTable, scope: PartitionScope, sizes: PartitionSizes
) -> StatedLogDirs:
    """The disks of a request that chooses directories.

    Raises
    ------
    LogDirsMissing, UnknownBroker, UnknownLogDir, OfflineLogDir, NoLogDirLeft : named by the request.
    CapacityMissing : the size of a directory with a limit is unknown.
    SizesMissing : directories are chosen by bytes.
    """
    request, limits, share = stated.log_dirs or LogDirsRequest(), stated.limits, stated.batches.max_disk_share
    path: tuple[str, ...] = ("log_dirs",) if limits.log_dirs is None else _LIMITS
    if not cluster.log_dirs:
        detail = "log_dirs chooses log directories, and the snapshot has none; post kafka-log-dirs --describe with it"
        raise errors.LogDirsMissing(detail, path=path)
    _require_known(request, cluster, brokers)
    _require_limited_known(limits, cluster, brokers)
    sizes.require("log_dirs", path)
    disks = _Disks.of(cluster, brokers)
    before, copying = _before(scope, cluster, positions_of(scope.before, brokers.ids), disks.first)
    of_scope, stuck = (_per_disk(each, sizes.size_bytes, disks.count) for each in (before, copying))
    of_others = _of_others(scope, sizes, disks.first, disks.count)
    is_closed, is_drained, is_offline = disks.flags(request.drain)
    total, used = disks.total_bytes(request), of_scope + of_others
    limit = np.minimum(disks.limits(total, used, share), disks.shares(limits, total)) - stuck
    return StatedLogDirs(
        disks.directories,
        disks.first,
        total,
        limit,
        ~(is_closed | is_drained | is_offline),
        is_drained,
        is_offline,
        before,
        used,
        of_others + np.where(is_offline, of_scope, 0),
        request.core_balance,
        path,
        tuple(_cautions(brokers, scope, before, of_others, is_drained, disks.first)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Disks:
    """The disks of a cluster: one for each broker, of replicas in unknown directories, then one for each directory.

    Parameters
    ----------
    directories : by position of each broker that is up and has some.
    first : (brokers,) int64 disk of the first directory of each broker, or −1.
    """

    cluster: Cluster
    brokers: BrokerTable
    directories: Mapping[int, Sequence[LogDirectory]]
    first: Int64s
    count: int

    @classmethod
    def of(cls, cluster: Cluster, brokers: BrokerTable) -> "_Disks":
        directories = {
            position: cluster.log_dirs[broker]
            for position, broker in enumerate(brokers.ids.tolist())
            if cluster.log_dirs.get(broker) and not brokers.is_offline[position]
        }
        counts = np.array([len(directories.get(position, ())) for position in range(len(brokers.ids))])
        first = np.where(counts > 0, len(counts) + np.cumsum(counts) - counts, -1)
        return cls(cluster, brokers, directories, first, len(counts) + int(counts.sum()))

    def _each(self) -> Iterator[tuple[int, Broker, LogDirectory]]:
        """Each directory, with its disk and its broker."""
        for position, listed in self.directories.items():
            for disk, directory in enumerate(listed, int(self.first[position])):
                yield disk, self.brokers.known[position], directory

    def flags(self, drain: Mapping[int, Sequence[str]]) -> tuple[Bools, Bools, Bools]:
        """(disks,) bool each: cordoned, drained, offline."""
        is_closed, is_drained, is_offline = (np.zeros(self.count, np.bool_) for _ in range(3))
        for disk, broker, directory in self._each():
            is_closed[disk] = directory.path in _closed(self.cluster, broker.id)
            is_drained[disk] = directory.path in drain.get(broker.id, ())
            is_offline[disk] = directory.is_offline
        return is_closed, is_drained, is_offline

    def total_bytes(self, request: LogDirsRequest) -> Int64s:
        """(disks,) int64 bytes: as the request states, else as the snapshot has them, else an equal share of the
        broker's remaining capacity; 0 if unknown.
        """
        total = np.zeros(self.count, np.int64)
        for position, listed in self.directories.items():
            broker = self.brokers.known[position]
            stated = [request.stated_bytes(broker.id, directory.path) or directory.total_bytes for directory in listed]
            unknown = sum(size is None for size in stated)
            disk_bytes = None if broker.capacity is None else broker.capacity.disk_bytes
            rest = 0 if disk_bytes is None else max(disk_bytes - sum(size or 0 for size in stated), 0)
            for disk, size in enumerate(stated, int(self.first[position])):
                total[disk] = min(rest // unknown if size is None else size, MOST_BYTES)
        return total

    def limits(self, total: Int64s, used: Int64s, share: float | None) -> Int64s:
        """(disks,) int64 bytes of replicas at any time: the share of the disk, and no more than is free beside them."""
        part = 1.0 if share is None else share
        limit = np.array([int(size * part) if size else NO_LIMIT for size in total.tolist()], np.int64)
        for disk, _, directory in self._each():
            if directory.usable_bytes is not None:
                limit[disk] = min(int(limit[disk]), int(used[disk]) + directory.usable_bytes)
        for position, broker in enumerate(self.brokers.known):
            size = None if broker.capacity is None else broker.capacity.disk_bytes
            if position not in self.directories and size and share is not None:
                limit[position] = int(size * share)
        return limit

    def shares(self, limits: LimitsRequest, total: Int64s) -> Int64s:
        """(disks,) int64 bytes that the limits of directories allow. Raises `CapacityMissing`."""
        most = np.full(self.count, NO_LIMIT, np.int64)
        for disk, broker, directory in self._each():
            share = limits.log_dir_share(broker.id, directory.path)
            if share is None:
                continue
            if not total[disk]:
                detail = (
                    f"the limit of log directory {quoted(directory.path)} of broker {broker.id} is a share of its "
                    "size, which is unknown; log_dirs.total_bytes states it"
                )
                raise errors.CapacityMissing(detail, path=_LIMITS, value=share, broker=broker.id, field=directory.path)
            most[disk] = int(int(total[disk]) * Fraction(repr(float(share))))
        return most


def _require_known(request: LogDirsRequest, cluster: Cluster, brokers: BrokerTable) -> None:
    known = set(brokers.ids.tolist())
    for broker, paths in request.drain.items():
        at: FieldPath = (*_DRAIN, str(broker))
        if broker not in known:
            raise errors.UnknownBroker(f"there is no broker {broker} in the snapshot", path=at, value=broker)
        if paths and brokers.is_offline[np.searchsorted(brokers.ids, broker)]:
            detail = f"broker {broker} is fenced or down: nothing can be copied within it"
            raise errors.OfflineLogDir(detail, path=at, value=list(paths), broker=broker)
        drained = {log_dir_index(broker, path, cluster.log_dirs, (*at, place)) for place, path in enumerate(paths)}
        for place, path in enumerate(paths):
            if cluster.log_dirs[broker][log_dir_index(broker, path, cluster.log_dirs)].is_offline:
                detail = f"log directory {quoted(path)} of broker {broker} is offline: nothing can be copied out of it"
                raise errors.OfflineLogDir(detail, path=(*at, place), value=path, broker=broker)
        if paths:
            _require_one_left(cluster, broker, paths, drained)
    for name, stated in request.total_bytes.items():
        if name != EVERY:
            if int(name) not in known:
                detail = f"there is no broker {name} in the snapshot"
                raise errors.UnknownBroker(detail, path=("log_dirs", "total_bytes", name), value=int(name))
            for path in stated:
                log_dir_index(int(name), path, cluster.log_dirs, ("log_dirs", "total_bytes", name, path))


def _require_one_left(cluster: Cluster, broker: int, paths: Sequence[str], drained: Collection[int]) -> None:
    """Raise `NoLogDirLeft` if all directories of a broker are drained, by index, or offline, or cordoned."""
    closed, listed = _closed(cluster, broker), cluster.log_dirs[broker]
    left = (
        index not in drained and not directory.is_offline and directory.path not in closed
        for index, directory in enumerate(listed)
    )
    if not any(left):
        offline = sum(directory.is_offline for directory in listed)
        detail = (
            f"{len(drained)} of the {len(listed)} log directories of broker {broker} are drained"
            f"{f', {offline} offline' if offline else ''}{', others cordoned' if closed else ''}: none is left"
        )
        path = (*_DRAIN, str(broker))
        raise errors.NoLogDirLeft(detail, path=path, value=list(paths), broker=broker, limit=len(listed) - 1)


def _closed(cluster: Cluster, broker: int) -> frozenset[str]:
    """The cordoned directories of a broker."""
    cordon = cluster.cordons.get(broker)
    if cordon is None:
        return frozenset()
    whole = [directory.path for directory in cluster.log_dirs.get(broker, ())] if cordon.is_whole else []
    return frozenset([*cordon.log_dirs, *whole])


def _before(scope: PartitionScope, cluster: Cluster, positions: Int32s, first: Int64s) -> tuple[Int32s, Int32s]:
    """Disks of the scope's replicas, where they are or are being moved to, and those that these still occupy; or −1."""
    current = np.full(positions.shape, NO_LOG_DIR, np.int32)
    future = current.copy()
    by_name = {topic.name: topic for topic in cluster.topics}
    for name, start in zip(scope.topics, scope.starts.tolist(), strict=False):
        for log_dirs, found in ((by_name[name].log_dirs, current), (by_name[name].future_log_dirs, future)):
            if log_dirs is not None:
                rows = by_name[name].at_destination(log_dirs)
                found[start : start + len(rows), : rows.shape[1]] = rows
    is_moving = (future != NO_LOG_DIR) & (current != NO_LOG_DIR) & (future != current)
    return (
        _as_disks(np.where(future != NO_LOG_DIR, future, current), positions, first),
        np.where(is_moving, _as_disks(current, positions, first), NO_LOG_DIR),
    )


def _as_disks(log_dirs: Int32s, positions: Int32s, first: Int64s) -> Int32s:
    """Directories as disks: the broker's disk if the directory is unknown; −1 of padding."""
    start = np.append(first, -1)[positions]
    disks = np.where((log_dirs != NO_LOG_DIR) & (start >= 0), start + log_dirs, positions)
    return np.where(positions == NO_REPLICA, NO_LOG_DIR, disks).astype(np.int32)


def _of_others(scope: PartitionScope, sizes: PartitionSizes, first: Int64s, n_disks: int) -> Int64s:
    """(disks,) int64 bytes of replicas outside the scope."""
    log_dirs = stacked([_log_dirs(topic) for topic in scope.others])
    return _per_disk(_as_disks(log_dirs, sizes.others.replicas, first), sizes.of_others, n_disks)


def _per_disk(disks: Int32s, size_bytes: Int64s, n_disks: int) -> Int64s:
    """(disks,) int64 bytes of (rows, widest) int32 disks; −1 counts nowhere."""
    is_there = disks >= 0
    return sums_by(disks[is_there], np.broadcast_to(size_bytes[:, None], disks.shape)[is_there], n_disks)


def _log_dirs(topic: Topic) -> Int32s:
    return np.full(topic.replicas.shape, NO_LOG_DIR, np.int32) if topic.log_dirs is None else topic.log_dirs


def _require_limited_known(limits: LimitsRequest, cluster: Cluster, brokers: BrokerTable) -> None:
    """Raise `UnknownBroker`, `UnknownLogDir` for limits of brokers and directories that do not exist."""
    if limits.log_dirs is None or isinstance(limits.log_dirs, int | float):
        return
    known = set(brokers.ids.tolist())
    for name, shares in limits.log_dirs.items():
        if name == EVERY:
            for path in shares:
                if path != EVERY and not any(path == one.path for each in cluster.log_dirs.values() for one in each):
                    detail = f"no broker has a log directory {quoted(path)}"
                    raise errors.UnknownLogDir(detail, path=(*_LIMITS, name, path), value=path)
            continue
        if int(name) not in known:
            detail = f"there is no broker {name} in the snapshot"
            raise errors.UnknownBroker(detail, path=(*_LIMITS, name), value=int(name))
        for path in shares:
            if path != EVERY:
                log_dir_index(int(name), path, cluster.log_dirs, (*_LIMITS, name, path))


def _cautions(
    brokers: BrokerTable, scope: PartitionScope, before: Int32s, of_others: Int64s, is_drained: Bools, first: Int64s
) -> Iterator[Caution]:
    unknown = (before >= 0) & (before < len(brokers.ids))
    unknown &= first[np.where(unknown, before, 0)] >= 0
    if unknown.any():
        named = tuple(np.unique(brokers.ids[before[unknown]]).tolist())
        yield caution("log_dirs_unknown", replicas=int(unknown.sum()), brokers=named)
    in_use = np.flatnonzero(is_drained & (of_others > 0))
    if len(in_use) and scope.others:
        named = tuple(np.unique(brokers.ids[_owners(in_use, first)]).tolist())
        yield caution("log_dirs_in_use", log_dirs=len(in_use), brokers=named)


def _owners(disks: Int64s, first: Int64s) -> Int64s:
    """The broker positions of directories."""
    known = np.flatnonzero(first >= 0)
    return known[np.searchsorted(first[known], disks, side="right") - 1]
