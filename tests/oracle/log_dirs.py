"""Laws of the log directories that a plan chooses: each small broker beside its exact optimum, over every placement."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from tests.oracle.clusters import Document
from tests.oracle.exact import Replicas
from tests.oracle.examined import Examined
from tests.oracle.instances import Instance
from tests.oracle.model import Key, Model, Partition, breaks_racks

PRECISION = Fraction(1, 1000)
"""A smallest largest share is reached to this part of it."""
MOST_PLACEMENTS = 60_000
"""Brokers with more placements are not solved."""


@dataclass(frozen=True, slots=True)
class Disks:
    """The directories of a broker and the replicas in them after a plan.

    Parameters
    ----------
    paths : of its directories. total, limit : bytes by path. drained : paths. sizes : of each replica.
    before : path of each replica, or None of one that arrives. after : path.
    """

    paths: tuple[str, ...]
    total: dict[str, int]
    limit: dict[str, int]
    drained: frozenset[str]
    sizes: dict[Key, int]
    before: dict[Key, str | None]
    after: dict[Key, str]

    @property
    def allowed(self) -> list[str]:
        """Directories that replicas may be in."""
        return [path for path in self.paths if path not in self.drained]

    def placements(self) -> Iterator[dict[Key, str]]:
        """Every placement within the limits."""
        keys = list(self.sizes)
        for chosen in product(self.allowed, repeat=len(keys)):
            placement = dict(zip(keys, chosen, strict=True))
            loads = self.loads(placement)
            if all(loads[path] <= self.limit[path] for path in self.paths):
                yield placement

    def loads(self, placement: Mapping[Key, str]) -> Counter[str]:
        """Bytes by path."""
        loads: Counter[str] = Counter()
        for key, path in placement.items():
            loads[path] += self.sizes[key]
        return loads

    def largest(self, placement: Mapping[Key, str]) -> Fraction:
        """The largest share of a directory that is not drained."""
        loads = self.loads(placement)
        stays = (path for path in self.paths if path not in self.drained)
        return max((Fraction(loads[path], self.total[path]) for path in stays), default=Fraction(0))

    def moved(self, placement: Mapping[Key, str]) -> int:
        """Bytes of replicas that leave a directory for another one."""
        changed = (key for key, path in placement.items() if self.before[key] not in {None, path})
        return sum(self.sizes[key] for key in changed)

    @property
    def mean(self) -> Fraction:
        """The share in use if all directories that are not drained have the same."""
        return Fraction(sum(self.sizes.values()), max(1, sum(self.total[path] for path in self.allowed)))


def log_dirs(examined: Examined, model: Model, after: Replicas) -> None:
    """Directories of small brokers are legal, as reported, and the best by the goals of `log_dirs.balance`."""
    document = examined.answer.document.get("log_dirs")
    if any(each["constraint"] == "log_dirs" for each in examined.answer.document["relaxed"] or ()):
        return
    if document is None or any(row.size is None for row in model.partitions):
        return
    rows = {row.key: row for row in model.partitions}
    for written in document["brokers"]:
        disks = _disks(examined.instance, written, rows, after, examined.answer.log_dirs)
        if disks is not None:
            _of_broker(examined, written, disks)


def conflict(examined: Examined, model: Model) -> None:
    """If no replica leaves its broker, a broker whose replicas fit is not refused, and the conflict is irreducible."""
    instance, document = examined.instance, examined.answer.document
    is_alone = instance.request.keys() <= {"limits", "log_dirs", "rack_mode"} and "broker" in document
    if not is_alone or any(breaks_racks(row, model.brokers) or row.size is None for row in model.partitions):
        return
    rows = {row.key: row for row in model.partitions}
    after = {row.key: row.before for row in model.partitions}
    disks = _disks(instance, {"broker": document["broker"]}, rows, after, {})
    if disks is None or len(disks.paths) ** len(disks.sizes) > MOST_PLACEMENTS:
        return
    examined.hold("replicas that fit are not refused", next(disks.placements(), None) is None, f"{document} {disks}")
    named = {row["partition"] for row in document["conflict"] if "partition" in row}
    listed = {key for key in disks.sizes if "{}-{}".format(*key) in named}
    for dropped in listed:
        fewer = replace(disks, sizes={key: disks.sizes[key] for key in listed - {dropped}})
        is_feasible = next(fewer.placements(), None) is not None
        examined.hold("conflicts of log directories are irreducible", is_feasible, f"{document} without {dropped}")


def _disks(
    instance: Instance,
    written: Document,
    rows: Mapping[Key, Partition],
    after: Replicas,
    named: Mapping[tuple[Key, int], str],
) -> Disks | None:
    """The directories of a broker; None if a replica is created, whose directory the broker chooses, or is pinned."""
    broker = written["broker"]
    stated = instance.request.get("log_dirs") or {}
    listed = next(each for each in instance.snapshot["brokers"] if each["id"] == broker)["log_dirs"]
    total = {each["path"]: each["total_bytes"] for each in listed}
    stated_limits = instance.request.get("limits", {}).get("log_dirs", 1)
    limit = {path: int(_share(stated_limits, broker, path) * size) for path, size in total.items()}
    current = {
        ((topic["name"], row["partition"]), broker): path
        for topic in instance.snapshot["topics"]
        for row in topic["partitions"]
        for broker, path in zip(row["replicas"], row["log_dirs"], strict=True)
    }
    sizes, before, placed = {}, {}, {}
    for key, replicas in after.items():
        if broker not in replicas:
            continue
        if not rows[key].before or rows[key].fixed is not None:
            return None
        sizes[key], before[key] = rows[key].size or 0, current.get((key, broker))
        placed[key] = named.get((key, broker)) or before[key] or "none"
    drained = frozenset(stated.get("drain", {}).get(str(broker), ()))
    return Disks(tuple(total), total, limit, drained, sizes, before, placed)


def _share(stated: Any, broker: int, path: str) -> Fraction:
    """The limit of a directory: a share of its size, of all directories or by broker and path, `*` for all others."""
    if isinstance(stated, dict):
        shares: Document = stated.get("*", {}) | stated.get(str(broker), {})
        stated = shares.get(path, shares.get("*", 1))
    return Fraction(str(stated))


def _of_broker(examined: Examined, written: Document, disks: Disks) -> None:
    detail = f"{disks}, reported {written}"
    is_legal = all(path in disks.allowed for path in disks.after.values())
    loads = disks.loads(disks.after)
    is_legal = is_legal and all(loads[path] <= disks.limit[path] for path in disks.paths)
    examined.hold("log directories are legal", is_legal, detail)
    reported = {each["path"]: each["bytes_after"] for each in written["log_dirs"]}
    is_right = reported == {path: loads[path] for path in disks.paths}
    examined.hold("bytes of log directories are right", is_right, detail)
    moved, largest = disks.moved(disks.after), disks.largest(disks.after)
    examined.hold("bytes moved within a broker are right", written["moved_bytes"] == moved, detail)
    is_near = abs(written["largest_share"] - float(largest)) < 1e-6
    examined.hold("largest shares of log directories are right", is_near, detail)
    if len(disks.allowed) ** len(disks.sizes) > MOST_PLACEMENTS or not is_legal:
        return
    balance = (examined.instance.request.get("log_dirs") or {}).get("balance", "keep")
    _best(examined, written, disks, balance, detail)


def _best(examined: Examined, written: Document, disks: Disks, balance: Any, detail: str) -> None:
    """`keep`: the fewest bytes, then the smallest largest share; else a ceiling, and the fewest bytes below it."""
    every = [(disks.moved(each), disks.largest(each)) for each in disks.placements()]
    moved, largest = disks.moved(disks.after), disks.largest(disks.after)
    if balance == "keep":
        fewest, smallest = min(every)
        detail = f"moved {moved} to {float(largest)}, exact {fewest} to {float(smallest)}; {detail}"
        examined.hold("bytes moved within a broker are the fewest", moved == fewest, detail)
        is_small = moved > fewest or largest <= smallest * (1 + PRECISION)
        examined.hold("the largest share of a log directory is the smallest", is_small, detail)
    else:
        smallest = min(share for _, share in every)
        tolerance = 0 if balance == "tight" else Fraction(str(balance["tolerance"]))
        ceiling = max(smallest * (1 + PRECISION), disks.mean * (1 + tolerance))
        detail = f"largest {float(largest)}, exact {float(smallest)}, ceiling {float(ceiling)}; {detail}"
        examined.hold("the largest share of a log directory is the smallest", largest <= ceiling, detail)
        # Any placement that the plan's own largest share allows is one that it could have been.
        fewest = min(bytes_ for bytes_, share in every if share <= max(largest, smallest))
        fewest_below = min(bytes_ for bytes_, share in every if share <= ceiling)
        detail = f"moved {moved}, exact {fewest} or {fewest_below}; {detail}"
        examined.hold("bytes moved within a broker are the fewest", moved <= fewest, detail)
    is_below = written["largest_share_lower_bound"] <= float(smallest) + 1e-6
    examined.hold("no bound of a log directory is above the optimum", is_below, detail)
    fewest_within = min(bytes_ for bytes_, share in every if share <= largest)
    is_below = written["lower_bound_bytes"] <= fewest_within
    examined.hold("no bound of bytes within a broker is above the optimum", is_below, detail)
