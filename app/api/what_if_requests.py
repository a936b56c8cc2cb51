"""A sweep over reassignments of a cluster, as requests write it."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.axes_field import WhatIfAxes
from app.api.fields import Id, Labels, Rack, TopicName
from app.api.fields import Request as RequestModel
from app.api.reassignment import EvenReplicas
from app.api.sweep_kind_field import KnownKind
from app.services.sweeps import SweepRequest


class WhatIfBalance(RequestModel):
    """How even brokers are to be, in every scenario."""

    replicas: EvenReplicas | None = Field(
        None,
        description="`tight`: counts as even as can be; `keep`: only what has to move does; a tolerance: in between. "
        "Left out: `tight` where brokers are added, and `keep` where none is.",
    )


class WhatIfChanges(RequestModel):
    """How a cluster is changed, besides what varies."""

    balance: WhatIfBalance | None = None
    minimise: Literal["bytes", "replicas"] | None = None
    racks_of_added: Annotated[list[Rack], Field(min_length=1, max_length=10_000)] | None = Field(
        None,
        description="The racks that added brokers are dealt to in turn, the first broker to the first. Left out: each "
        "goes to the rack that has the fewest brokers by then, of equals the first by name.",
    )


class WhatIfSweepRequest(WhatIfChanges):
    """A sweep over changes of a cluster: a broker removed, some added, and what moves for it."""

    kind: Annotated[Literal["reassignment"], KnownKind]
    snapshot_id: Id
    axes: WhatIfAxes
    topics: Annotated[list[TopicName], Field(min_length=1)] | None = Field(
        None, description="What may move; all where it is left out. The others count where they stay."
    )
    minimise: Literal["bytes", "replicas"] = Field(
        "bytes", description="What is to move as little as it can. Where some sizes are not known it is replicas."
    )
    rack_mode: Literal["enforced", "safe", "disabled"] = Field(
        "enforced",
        description="`enforced`: a partition spans as many racks as it has replicas, as far as there are racks before "
        "anyone goes, and every broker needs one; `safe`: the racks that are left, none where some broker has none; "
        "`disabled`: racks do not count.",
    )
    labels: Labels = Field(default_factory=dict)

    def service(self) -> SweepRequest:
        """As the service knows it: what was left out is the default."""
        definition = self.model_dump(mode="json", exclude_none=True, by_alias=True, exclude={"kind", "labels"})
        return SweepRequest(self.kind, definition, self.labels)
