"""How much one request may ask for."""

from collections.abc import Sized
from dataclasses import dataclass

from app.errors import FieldPath, LimitExceeded


@dataclass(frozen=True, slots=True)
class Limits:
    """The operator's limits; each is a setting of the same name."""

    max_body_bytes: int = 10 * 1024 * 1024
    """A request's body."""
    max_brokers: int = 10_000
    """Brokers of a snapshot or a request."""
    max_topics: int = 10_000
    """Topics of one request."""
    max_members: int = 10_000
    """Members of one consumer group."""
    max_events: int = 1_000
    """Events of one group plan."""
    max_sync_partitions: int = 1_000_000
    """Partitions that a plan request is answered for at once; more become a job."""
    max_partitions: int = 5_000_000
    """Partitions of one plan."""
    max_replicas: int = 20_000_000
    """Replicas of one plan: partitions × replication factor."""
    max_key_placements: int = 5_000_000
    """Keys of one request × its partitioners × its partition counts."""

    max_scenarios: int = 1_000_000
    """Scenarios of one sweep."""
    max_active_sweeps: int = 10
    """Sweeps that one API key may have on the way."""
    dataset_roots: tuple[str, ...] = ()
    """Folders and beginnings of URIs under which datasets are read; empty: none is."""

    def check_count(self, name: str, items: Sized, *, path: FieldPath) -> None:
        """Raise `LimitExceeded` where there are more `items` than the limit called `max_<name>`."""
        self.check_number(name, len(items), path=path)

    def check_number(self, name: str, number: int, *, path: FieldPath, remedy: str = "") -> None:
        """Raise `LimitExceeded` where `number` is above the limit called `max_<name>`."""
        limit: int = getattr(self, f"max_{name}")
        if number > limit:
            raise LimitExceeded(
                f"{number} {name.replace('_', ' ')} are more than the limit of {limit}" + remedy,
                path=path,
                limit_name=f"max_{name}",
                limit=limit,
                value=number,
            )
