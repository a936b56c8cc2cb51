"""Results of other planners for the clusters of `peer_clusters`, and the requests that are compared with each.

Measured in November 2026 with their own code, each result counted by `peer_clusters.evaluate`: Cruise Control with its
default thresholds, about 9 % of the mean; topicmappr; kafka-tools. Bytes and replicas that a table of these runs
rounded are rounded here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

GB, TB = 10**9, 10**12
Ends = tuple[float, float]
"""The largest and the smallest load of a broker, over the mean."""


@dataclass(frozen=True, slots=True)
class PeerFigures:
    """A peer's result; None is not measured, and a smallest load of 0 neither."""

    peer: str
    moved_replicas: int
    moved_bytes: int
    leader_changes: int | None = None
    replicas: Ends | None = None
    leaders: Ends | None = None
    bytes: Ends | None = None


@dataclass(frozen=True, slots=True)
class PeerCase:
    """A change to a cluster, our request for it, and the results of peers.

    Parameters
    ----------
    within : the loads whose ends the request bounds: ours have to be within the peer's, too.
    compared : figures in which ours are at most each peer's.
    is_quick : whether the request takes under three seconds of CPU time.
    """

    name: str
    cluster: str
    request: Mapping[str, Any]
    peers: Sequence[PeerFigures]
    within: Sequence[str] = ()
    compared: Sequence[str] = ("moved_bytes",)
    is_quick: bool = True
    added: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def body(self) -> dict[str, Any]:
        """The request, as `POST /v1/plans/reassignment` takes it."""
        added = [{"id": broker, "rack": rack} for broker, rack in self.added.items()]
        return {**self.request, **({"add_brokers": added} if added else {})}


NEW = MappingProxyType({31: "r0", 32: "r1", 33: "r2"})
CRUISE_CONTROL, TOPICMAPPR, KAFKA_TOOLS = "Cruise Control", "topicmappr", "kafka-tools"
LEADERS = ("moved_bytes", "leader_changes")
REMOVAL = ("moved_bytes", "moved_replicas", "leader_changes")

CASES: Sequence[PeerCase] = (
    PeerCase(
        "remove 105",
        "a",
        {"remove_brokers": [105]},
        (PeerFigures(CRUISE_CONTROL, 23, 13_021_205, 16, (1.35, 0.84), (1.16, 0.82), None),),
        within=("leaders",),
        compared=("moved_bytes", "moved_replicas"),
    ),
    PeerCase(
        "remove 105, leaders kept",
        "a",
        {"remove_brokers": [105], "balance": {"leaders": "keep"}},
        (
            PeerFigures(TOPICMAPPR, 23, 13_021_205, 8, (1.35, 0.87), (1.37, 0.55), (1.34, 0.83)),
            PeerFigures(KAFKA_TOOLS, 40, 24_700_000, 22),
        ),
        within=("replicas", "leaders", "bytes"),
        compared=REMOVAL,
    ),
    PeerCase(
        "remove 5",
        "b",
        {"remove_brokers": [5]},
        (PeerFigures(TOPICMAPPR, 348, 1_034_231_305_045, 117, (1.15, 0.37), (1.15, 0.387), (1.591, 0.196)),),
        within=("replicas", "leaders", "bytes"),
        compared=REMOVAL,
    ),
    PeerCase(
        "remove 1 to 6",
        "b",
        {"remove_brokers": [1, 2, 3, 4, 5, 6]},
        (
            PeerFigures(TOPICMAPPR, 2068, 6_245_478_972_565, 695, (1.27, 0.0), (1.30, 0.0), (1.32, 0.945)),
            PeerFigures(CRUISE_CONTROL, 2068, 6_245_478_972_565, 727, (1.09, 0.92), (1.30, 0.22), (1.32, 0.91)),
        ),
        within=("replicas", "leaders", "bytes"),
        compared=REMOVAL,
    ),
    PeerCase(
        "add 31 to 33, which alone receive",
        "b",
        {"receivers": "added", "balance": {"replicas": {"tolerance": 0.565}}, "minimise": "replicas"},
        (PeerFigures(CRUISE_CONTROL, 894, 44 * GB, 295, (1.31, 0.43), (1.31, 0.43), (1.81, 0.02)),),
        within=("replicas",),
        compared=("moved_replicas",),
        added=NEW,
    ),
    PeerCase(
        "add 31 to 33, fewest bytes",
        "b",
        {"receivers": "added", "balance": {"replicas": {"tolerance": 0.565}}},
        (PeerFigures(CRUISE_CONTROL, 894, 44 * GB, 295, (1.31, 0.0), (1.31, 0.43), (1.81, 0.02)),),
        # Brokers that joined late may give small partitions, too: the smallest has two replicas fewer than there.
        within=("replicas",),
        compared=("moved_bytes",),
        added=NEW,
    ),
    PeerCase(
        "add 31 to 33, replicas and bytes",
        "b",
        {"objective": {"goals": [{"goal": "replicas", "tolerance": 0.3}, {"goal": "disk", "tolerance": 0.57}]}},
        (PeerFigures(CRUISE_CONTROL, 894, 2_357 * GB, 347, (1.30, 0.43), (2.08, 0.09), (1.57, 0.22)),),
        within=("replicas", "bytes"),
        is_quick=False,
        added=NEW,
    ),
    PeerCase(
        "by bytes",
        "a",
        {"balance": {"replicas": {"tolerance": 0.1265}, "replicas_by": "bytes"}},
        (PeerFigures(TOPICMAPPR, 37, 13_215_881, 21, (1.20, 0.0), (1.54, 0.0), (1.127, 0.854)),),
        within=("bytes",),
        is_quick=False,
    ),
    PeerCase(
        "by bytes, 9 %",
        "b",
        {"balance": {"replicas": {"tolerance": 0.09}, "replicas_by": "bytes"}},
        (PeerFigures(CRUISE_CONTROL, 38, 3_729 * GB, 13, (1.19, 0.0), (1.19, 0.0), (1.09, 0.91)),),
        within=("bytes",),
        is_quick=False,
    ),
    PeerCase(
        "by bytes, 9 %, fewest replicas",
        "b",
        {"balance": {"replicas": {"tolerance": 0.09}, "replicas_by": "bytes"}, "minimise": "replicas"},
        (PeerFigures(CRUISE_CONTROL, 38, 3_729 * GB, 13, (1.19, 0.0), (1.19, 0.0), (1.09, 0.91)),),
        within=("bytes",),
        compared=("moved_replicas",),
        is_quick=False,
    ),
    PeerCase(
        "by bytes, 10 %",
        "c",
        {"balance": {"replicas": {"tolerance": 0.1}, "replicas_by": "bytes"}},
        (PeerFigures(CRUISE_CONTROL, 1276, 97_200 * GB, 379, (1.27, 0.0), (1.28, 0.0), (1.101, 0.87)),),
        within=("bytes",),
        is_quick=False,
    ),
    PeerCase(
        "leaders, 15 %",
        "a",
        {"leaders_only": True, "balance": {"leaders": {"tolerance": 0.154}}},
        (PeerFigures(CRUISE_CONTROL, 0, 0, 18, None, (1.154, 0.846)),),
        within=("leaders",),
        compared=LEADERS,
    ),
    PeerCase(
        "leaders, 9 %",
        "b",
        {"balance": {"leaders": {"tolerance": 0.1}, "leaders_move_replicas": True}},
        (PeerFigures(CRUISE_CONTROL, 14, 20 * GB, 298, None, (1.10, 0.90)),),
        within=("leaders",),
        compared=("moved_bytes",),
    ),
    PeerCase(
        "leaders, 7 %",
        "c",
        {"balance": {"leaders": {"tolerance": 0.07}, "leaders_move_replicas": True}},
        # The smallest broker leads 0.93 of the mean, which takes more leader changes than 0.67.
        (PeerFigures(CRUISE_CONTROL, 4071, 11_700 * GB, 10_488, None, (1.07, 0.67)),),
        within=("leaders",),
        is_quick=False,
    ),
    PeerCase(
        "leaders, 9 %, fewest changes",
        "b",
        {
            "balance": {"leaders": {"tolerance": 0.09, "below": 0.1}, "leaders_move_replicas": True},
            "minimise": "leader_changes",
        },
        (PeerFigures(CRUISE_CONTROL, 14, 20 * GB, 298, None, (1.09, 0.90)),),
        within=("leaders",),
        compared=LEADERS,
    ),
    PeerCase(
        "leaders, 7 % above and a third below, fewest changes",
        "c",
        {
            "balance": {"leaders": {"tolerance": 0.07, "below": 0.33}, "leaders_move_replicas": True},
            "minimise": "leader_changes",
        },
        (PeerFigures(CRUISE_CONTROL, 4071, 11_700 * GB, 10_488, None, (1.07, 0.67)),),
        within=("leaders",),
        compared=LEADERS,
        is_quick=False,
    ),
    PeerCase(
        "repair racks",
        "br",
        {},
        (
            PeerFigures(CRUISE_CONTROL, 148, 473_167_197_301, 94),
            PeerFigures(KAFKA_TOOLS, 148, 473_167_197_301, 148),
        ),
        compared=REMOVAL,
    ),
    PeerCase(
        "remove 17",
        "c",
        {"remove_brokers": [17]},
        (PeerFigures(TOPICMAPPR, 1205, 2_061_113_760_179, 398, (1.27, 0.0), (1.275, 0.0), (2.0, 0.0)),),
        within=("replicas", "leaders", "bytes"),
        compared=REMOVAL,
        is_quick=False,
    ),
    PeerCase(
        "replicas and bytes, 9 %",
        "b",
        {"objective": {"goals": [{"goal": "replicas", "tolerance": 0.09}, {"goal": "disk", "tolerance": 0.09}]}},
        (PeerFigures(CRUISE_CONTROL, 952, 3_856 * GB, None, (1.09, 0.91), (2.15, 0.01), (1.09, 0.91)),),
        within=("replicas", "bytes"),
        is_quick=False,
    ),
)
