"""What the page of a cluster shows, as its address says: every state of the page has an address."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from app.core.measures.partition_table import PartitionTable
from app.web.clusters.broker_map import MEASURES

RACK, BROKER = "rack", "broker"
_MOST_LOSSES = 100
_DEFAULT_MEASURE = "replicas"


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The state of a cluster's page.

    Parameters
    ----------
    cluster : its name. snapshot : the id as text; empty for the newest.
    measure : of `MEASURES`. topic : the only topic that counts; empty for all.
    broker : the id of the broker whose topics are listed; empty for none.
    lost : racks and brokers that are taken to be lost, each as `rack:name` or `broker:id`.
    """

    cluster: str
    snapshot: str = ""
    measure: str = _DEFAULT_MEASURE
    topic: str = ""
    broker: str = ""
    lost: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, cluster: str, *, snapshot: str, measure: str, topic: str, broker: str, lost: Sequence[str]
    ) -> "ClusterView":
        """The view that an address asks for; what is unknown in it is left out."""
        known = measure if measure in MEASURES else _DEFAULT_MEASURE
        losses = tuple(dict.fromkeys(loss for loss in lost if loss.partition(":")[0] in (RACK, BROKER)))
        return cls(
            cluster,
            snapshot,
            known,
            topic,
            broker if broker.isascii() and broker.isdigit() and len(broker) < 11 else "",
            losses[:_MOST_LOSSES],
        )

    @property
    def lost_racks(self) -> tuple[str, ...]:
        """The names of the racks that are lost."""
        return tuple(loss.removeprefix("rack:") for loss in self.lost if loss.startswith("rack:"))

    @property
    def lost_brokers(self) -> tuple[int, ...]:
        """The ids of the brokers that are lost by themselves."""
        ids = (loss.removeprefix("broker:") for loss in self.lost if loss.startswith("broker:"))
        return tuple(int(broker) for broker in ids)

    def within(self, table: PartitionTable) -> "ClusterView":
        """The view without the losses of racks and brokers that the cluster does not have."""
        known = {f"{RACK}:{rack}" for rack in table.brokers.racks}
        known.update(f"{BROKER}:{broker}" for broker in table.brokers.ids.tolist())
        return replace(self, lost=tuple(loss for loss in self.lost if loss in known))

    @property
    def address(self) -> str:
        """The address of the page in this state."""
        return f"/clusters/{quote(self.cluster, safe='')}{self._query()}"

    def picture(self, file_type: str) -> str:
        """The address of the map in this state as SVG or PNG."""
        return f"/pictures/cluster-map.{file_type}{self._query([('cluster', self.cluster)])}"

    def document(self, snapshot: str) -> str:
        """The address of a snapshot as JSON, in the form of a request that stores it."""
        address = ClusterView(self.cluster, snapshot).address
        return f"{address}&file=json"

    def showing(self, **changes: str | tuple[str, ...]) -> str:
        """The address of the page with some fields changed."""
        return replace(self, **changes).address  # type: ignore[arg-type] # the fields are of these types

    def toggled(self, loss: str) -> str:
        """The address of the page with a loss added, or taken back."""
        lost = tuple(each for each in self.lost if each != loss) if loss in self.lost else (*self.lost, loss)
        return replace(self, lost=lost).address

    @property
    def intact(self) -> str:
        """The address of the page without a loss."""
        return replace(self, lost=()).address

    def _query(self, first: Sequence[tuple[str, str]] = ()) -> str:
        stated = [
            *first,
            *((name, value) for name in ("snapshot", "topic", "broker") if (value := getattr(self, name))),
            *([("measure", self.measure)] if self.measure != _DEFAULT_MEASURE else []),
            *(("lose", loss) for loss in self.lost),
        ]
        return f"?{urlencode(stated)}" if stated else ""
