"""The environment, read once when a process starts and passed on as values.

Every setting is an environment variable with the prefix `RACKPLAN_`: `RACKPLAN_PORT=9090 rackplan serve`.
"""

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, FilePath, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.services.limits import Limits
from app.services.spark_master import LOCAL, PATTERN

DEFAULTS = Limits()
_SPARE_THREADS = 2
"""For files that are read and streams that are followed, which are not admitted as requests are."""
_SPARE_CONNECTIONS = 4
"""For the examples that are stored at the start, and for those who follow a sweep."""
OTHER_CONNECTIONS = 14
"""Database connections besides those of the API: 2 of `/readyz`, and of a worker 8 and the 4 of its queue."""


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(env_prefix="RACKPLAN_", env_ignore_empty=True, frozen=True)

    host: str = Field("127.0.0.1", description="Address to listen on. Any but a loopback one needs an API key first.")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    data_dir: Path = Field(Path(".data"), description="Folder of the embedded Postgres.")
    database_url: str | None = Field(
        None, description="postgresql://… of a Postgres to use instead of the embedded one."
    )
    spark_master: str = Field(
        LOCAL,
        pattern=PATTERN,
        description="Where Spark runs: local[…], spark://host:port, k8s://https://host:port, yarn.",
    )
    spark_driver_memory: str = Field(
        "1g",
        pattern=r"^\d+[kmgt]$",
        description="Memory of Spark's driver; local[…] has no other, a cluster has its executors.",
    )
    spark_properties: FilePath | None = Field(
        None, description="File of further Spark properties, in the form of spark-defaults.conf."
    )
    log_format: Literal["auto", "json", "console"] = Field("auto", description="auto: console where a person looks on.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least level that is logged."
    )
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Origins of portals that may call from a browser, separated by commas (CORS)."
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Names that a service on a loopback address goes by besides localhost, as behind a proxy."
    )
    idempotency_hours: int = Field(24, ge=1, description="How long an answer to an Idempotency-Key is kept.")

    concurrent_requests: int = Field(16, ge=1, description="Requests that are served at once.")
    queued_requests: int = Field(
        300, ge=0, description="Requests that wait for their turn; one more is answered 503 with `Retry-After`."
    )
    queue_seconds: float = Field(10.0, gt=0, le=600, description="How long a request waits for its turn, at most.")
    threads: int = Field(24, ge=1, description="Threads for requests; 2 more than are served at once, or more.")
    database_connections: int = Field(
        20,
        ge=1,
        description="Database connections of the API; 4 more than requests are served at once, or more. Checks and "
        "a worker take 14 besides.",
    )

    max_body_bytes: int = Field(DEFAULTS.max_body_bytes, ge=1024, description="Bytes of a request's body.")
    max_brokers: int = Field(DEFAULTS.max_brokers, ge=1, description="Brokers of a snapshot or a request.")
    max_topics: int = Field(DEFAULTS.max_topics, ge=1, description="Topics of one plan.")
    max_members: int = Field(DEFAULTS.max_members, ge=1, description="Members of one consumer group.")
    max_events: int = Field(DEFAULTS.max_events, ge=1, description="Events of one group plan.")
    max_sync_partitions: int = Field(DEFAULTS.max_sync_partitions, ge=1, description="Partitions answered at once.")
    max_partitions: int = Field(DEFAULTS.max_partitions, ge=1, description="Partitions of one plan.")
    max_replicas: int = Field(DEFAULTS.max_replicas, ge=1, description="Replicas of one plan.")
    max_key_placements: int = Field(
        DEFAULTS.max_key_placements, ge=1, description="Keys × partitioners × partition counts of one request."
    )

    max_scenarios: int = Field(DEFAULTS.max_scenarios, ge=1, description="Scenarios of one sweep.")
    max_active_sweeps: int = Field(
        DEFAULTS.max_active_sweeps, ge=1, description="Sweeps that one API key may have on the way."
    )
    dataset_roots: Annotated[tuple[str, ...], NoDecode] = Field(
        DEFAULTS.dataset_roots,
        description="Folders and beginnings of URIs under which sweeps may read datasets, separated by commas.",
    )
    sweep_days: int = Field(30, ge=1, description="How long a sweep's rows are kept once it has ended.")

    @field_validator("allowed_origins", "allowed_hosts", "dataset_roots", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_capacity(self) -> Self:
        """No request may wait for a thread while it holds a connection, nor the other way round."""
        for name, spare in (("threads", _SPARE_THREADS), ("database_connections", _SPARE_CONNECTIONS)):
            given, least = getattr(self, name), self.concurrent_requests + spare
            if given < least:
                raise ValueError(
                    f"RACKPLAN_{name.upper()} is {given}; with RACKPLAN_CONCURRENT_REQUESTS at "
                    f"{self.concurrent_requests} it has to be {least} or more"
                )
        return self

    @property
    def limits(self) -> Limits:
        """The limits among the settings."""
        return Limits(**{name: getattr(self, name) for name in Limits.__slots__})

    @property
    def hosts(self) -> frozenset[str] | None:
        """The names that the service answers to; None, which is any, where other machines can reach it."""
        if not self.is_loopback:
            return None
        return frozenset({"localhost", "127.0.0.1", "[::1]", self.host, *map(str.lower, self.allowed_hosts)})

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False
