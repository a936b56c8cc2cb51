"""The settings: environment variables, read once when a process starts and passed on as values.

Every setting is an environment variable with the prefix `RACKPLAN_`: `RACKPLAN_PORT=9090 rackplan serve`.
"""

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, FilePath, ModelWrapValidatorHandler, StringConstraints, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.errors.machine import SettingNotValid
from app.errors.quotation import quoted, suggestion
from app.services.limits import Limits, Listed
from app.services.oidc import options
from app.services.oidc.options import OidcOptions
from app.services.outbound import Outbound
from app.services.quotas import Quotas
from app.services.spark_master import LOCAL, PATTERN

_ORIGIN = r"^('self'|https?://[A-Za-z0-9*.\[\]:-]+)$"
_SPARE_THREADS = 8
"""Threads for static files and progress streams, which need no admission, and checks of keys."""
_SPARE_CONNECTIONS = 4
"""Database connections for the examples that are stored at the start, and for progress streams of sweeps."""
_PREFIX = "RACKPLAN_"
SLOT_CONNECTIONS = 2
"""Database connections of a process of RACKPLAN_SOLVER_PROCESSES or RACKPLAN_READER_PROCESSES."""
OTHER_CONNECTIONS = 19
"""Database connections besides the API's: 2 of `/readyz`, 1 of the audit log, 8 of a worker, 5 of its jobs,
3 of its deliveries.
"""


_OF_OTHERS = frozenset({"URL", "KEY", "TEAM", "COMPILED", "SCREENSHOTS"})
"""Variables of the command line, the client, compiled loops and tests, which are no settings of the service."""


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Log messages about variables with the prefix that are no settings, with the probably intended setting."""
    known = [name.upper() for name in Settings.model_fields]
    names = [name.upper().removeprefix(_PREFIX) for name in sorted(environment) if name.upper().startswith(_PREFIX)]
    unknown = [name for name in names if name not in known and name not in _OF_OTHERS]
    return [f"{_PREFIX}{name} is no setting{suggestion(name, known)}" for name in unknown]


class Settings(Limits, Quotas, OidcOptions, BaseSettings):
    """Every setting of the service and its worker, with inherited ones. Raises `SettingNotValid`."""

    # Lists are texts with commas in the environment, not JSON (`Listed`).
    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_ignore_empty=True, enable_decoding=False, frozen=True)

    host: str = "127.0.0.1"
    """Address to listen on. An address other than loopback requires an API key or OIDC."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """Port to listen on; 0 chooses a free one."""
    data_dir: Path = Path(".data")
    """Folder of the embedded Postgres."""
    database_url: str | None = None
    """postgresql://… of a Postgres to use instead of the embedded one."""
    spark_master: Annotated[str, Field(pattern=PATTERN)] = LOCAL
    """Where Spark runs: local[…], spark://host:port, k8s://https://host:port, yarn."""
    spark_driver_memory: Annotated[str, Field(pattern=r"^\d+[kmgt]$")] = "1g"
    """Memory of the Spark driver; with local[…] the executors share it."""
    spark_properties: FilePath | None = None
    """File with further Spark properties, in the format of spark-defaults.conf."""
    spark_early: bool = True
    """Whether a worker that has nothing to do starts Spark ahead of the first sweep, which is scored sooner; the JVM
    and its Python processes take up to 1 GB of memory. On a cluster the first sweep always starts it."""
    log_format: Literal["auto", "json", "console"] = "auto"
    """auto: console on a terminal, JSON elsewhere."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level that is logged."""
    allowed_origins: Listed[str] = ()
    """Origins that may call the API from a browser, separated by commas (CORS)."""
    frame_ancestors: Listed[Annotated[str, StringConstraints(pattern=_ORIGIN)]] = ()
    """Origins whose pages may embed Rackplan's, separated by commas; 'self' is its own."""
    allowed_hosts: Listed[str] = ()
    """Host names, besides localhost, that a service on a loopback address answers to (behind a proxy), separated by
    commas."""
    idempotency_hours: Annotated[int, Field(ge=1)] = 24
    """Hours after which the response to an Idempotency-Key is deleted."""

    solver_processes: Annotated[int, Field(ge=0, le=256)] = 2
    """Processes for requests that plan, check or store; 0 serves all requests in threads of one process, where neither
    RACKPLAN_DEADLINE_SECONDS nor RACKPLAN_SLOT_MEMORY_MIB is enforced."""
    reader_processes: Annotated[int, Field(ge=1, le=256)] = 2
    """Processes for requests that read."""
    concurrent_requests: Annotated[int, Field(ge=1)] = 16
    """Requests that are served concurrently by threads: those that wait for jobs, and all if RACKPLAN_SOLVER_PROCESSES
    is 0."""
    queued_requests: Annotated[int, Field(ge=0)] = 300
    """Requests that wait for a slot; the next one is answered 503 with `Retry-After`."""
    queue_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    """Longest expected wait for a slot, in seconds; a request that would wait longer is answered 503 with `Retry-After`
    at once."""
    connections: Annotated[int, Field(ge=1)] = 1000
    """Open connections of clients; a further one replaces one without a request or, if all have requests, gets answers
    to health checks and metrics only, and 503 otherwise."""
    rate_per_key: Annotated[int, Field(ge=0, le=10_000_000)] = 6000
    """Requests a minute of one API key; beyond it 429. 0 is no limit."""
    rate_per_address: Annotated[int, Field(ge=0, le=10_000_000)] = 12_000
    """Requests a minute of one address (of IPv6: one /64), except loopback; beyond it 429. 0 is no limit."""
    concurrent_per_key: Annotated[int, Field(ge=0, le=100_000)] = 100
    """Requests of one API key in progress; beyond it 429. 0 is no limit."""
    concurrent_per_address: Annotated[int, Field(ge=0, le=100_000)] = 200
    """Requests of one address in progress, except loopback; beyond it 429. 0 is no limit."""
    trusted_proxies: Listed[IPv4Network | IPv6Network] = ()
    """Networks (CIDR) of reverse proxies, separated by commas: their X-Forwarded-For and X-Forwarded-Proto state the
    address of the client and the scheme."""
    grace_seconds: Annotated[int, Field(ge=0, le=600)] = 5
    """Longest time that a stop waits for requests in progress, in seconds; then they are answered 503."""
    audit_days: Annotated[int, Field(ge=1, le=36500)] = 365
    """Days after which an entry of the audit log is deleted."""
    sweep_days: Annotated[int, Field(ge=1)] = 30
    """Days after its end at which a sweep and its rows are deleted."""
    examples: bool = False
    """Whether a start stores the snapshots, plans, job and sweep that the examples of the API and the documentation
    name, if they are missing."""
    webhooks: bool = False
    """Whether webhooks can be created and are delivered: the worker then calls URLs that callers name."""
    webhook_networks: Listed[IPv4Network | IPv6Network] = ()
    """Networks (CIDR) of webhooks that are not public addresses, separated by commas, such as 10.2.0.0/16; to these,
    http is allowed."""
    webhook_days: Annotated[int, Field(ge=2)] = 7
    """Days after its event at which a delivery to a webhook is deleted."""

    @model_validator(mode="wrap")
    @classmethod
    def _name_variables(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """A value that is not allowed is named by its environment variable. The last validator, around all others."""
        try:
            return handler(data)
        except ValidationError as invalid:
            raise SettingNotValid("; ".join(map(_reason, invalid.errors(include_url=False)))) from None

    @property
    def limits(self) -> Limits:
        """The limits alone, for the services."""
        return Limits(**{name: getattr(self, name) for name in Limits.model_fields})

    @property
    def oidc(self) -> OidcOptions | None:
        """The options of OIDC; None if there is no issuer."""
        return options.of(self)

    @property
    def threads(self) -> int:
        """Threads of the process that listens: every slot has one, so that no request with a slot waits for it."""
        return self.concurrent_requests + _SPARE_THREADS

    @property
    def database_connections(self) -> int:
        """Database connections of the process that listens: every slot has one, as it has a thread."""
        return self.concurrent_requests + _SPARE_CONNECTIONS

    @property
    def all_connections(self) -> int:
        """Database connections that the service and one worker use at most."""
        # The worker's slots, for jobs of plans, are two.
        processes = self.solver_processes + self.reader_processes + 2 if self.solver_processes else 0
        return self.database_connections + OTHER_CONNECTIONS + processes * SLOT_CONNECTIONS

    @property
    def outbound(self) -> Outbound:
        """The addresses that the service may call."""
        return Outbound(self.webhooks, self.webhook_networks)

    @property
    def hosts(self) -> frozenset[str] | None:
        """The host names that the service answers to; None, which is any name, if other machines can reach it."""
        if not self.is_loopback:
            return None
        return frozenset({"localhost", "127.0.0.1", "[::1]", self.host, *map(str.lower, self.allowed_hosts)})

    @property
    def may_be_open(self) -> bool:
        """Whether the service is open until the first API key is created."""
        return self.is_loopback and self.oidc is None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


def _reason(error: ErrorDetails) -> str:
    message = error["msg"].removeprefix("Value error, ")
    if not error["loc"]:
        return message  # of several settings, which it names
    return f"RACKPLAN_{str(error['loc'][0]).upper()} is {quoted(repr(error['input']))}: {message}"
