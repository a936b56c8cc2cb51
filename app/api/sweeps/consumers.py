"""Requests for sweeps over the consumers of groups."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.sweeps.fields import KnownKind, Submission
from app.services.amounts import InBytes
from app.services.bodies import Request as RequestModel
from app.services.consumers.requests import Seconds
from app.services.consumers.series import MOST_BYTES_PER_S, MOST_PARTITIONS, RateSeries
from app.services.fields import GroupString, Labels

_Count = Annotated[int, Field(ge=0, le=MOST_PARTITIONS)]
Capacities = Annotated[list[Annotated[float, InBytes(ge=1, le=MOST_BYTES_PER_S)]], Field(min_length=1, max_length=1000)]
Delays = Annotated[list[Seconds], Field(min_length=1, max_length=1000)]
Spares = Annotated[list[_Count], Field(min_length=1, max_length=1000)]


class ConsumersChanges(RequestModel):
    """The capacities, the delays, and the numbers of spare consumers."""

    capacities_bytes_per_s: Capacities | None = None
    """Rates that one consumer can read and process; null keeps them."""
    delays_s: Delays | None = None
    """Longest times for which a record may wait; null keeps them."""
    spares: Spares | None = None
    """Numbers of consumers beyond the fewest; null keeps them."""


class ConsumersSweepRequest(Submission, ConsumersChanges):
    """A sweep over the consumers of groups: each at every capacity, delay and number of spare consumers."""

    kind: Annotated[Literal["consumers"], KnownKind]
    """Kind of the sweep."""
    groups: Annotated[dict[GroupString, RateSeries], Field(min_length=1)]
    """By group the rates of the partitions that it reads, as in a plan of consumers."""
    capacities_bytes_per_s: Capacities
    """Rates that one consumer can read and process."""
    delays_s: Delays = Field(default_factory=lambda: [0.0])
    """Longest times for which a record may wait; whole intervals count."""
    spares: Spares = Field(default_factory=lambda: [0])
    """Numbers of consumers beyond the fewest, with which fewer partitions move."""
    min: Annotated[int, Field(ge=1, le=MOST_PARTITIONS)] = 1
    """The fewest consumers of any interval."""
    max: Annotated[int, Field(ge=1, le=MOST_PARTITIONS)] | None = None
    """The most consumers of any interval."""
    labels: Labels = Field(default_factory=dict)
