"""The configured Spark master: its address, and whether it accepts connections."""

import re
import socket
from dataclasses import dataclass

from app.errors.every import SparkUnavailable

LOCAL = "local[*]"
PATTERN = r"^(local(\[.+\])?|yarn|spark://[^/]+|k8s://.+)$"
"""URLs of masters."""

_SERVER = re.compile(r"(?:^|,|//)(\[[0-9a-fA-F:.]+\]|[^\[\]:/,]+)(?::(\d+))?(?=,|/|$)")
_LOCAL = re.compile(r"local(?:\[([^,\]]+)\])?")
_TRIES = 4
"""Spark's default of `spark.task.maxFailures`, which local masters do not read."""
_DEFAULT_PORT = {"spark": 7077, "k8s": 443}


@dataclass(frozen=True, slots=True)
class SparkMaster:
    """A master by its URL: `local[…]`, `spark://host:port[,host:port]`, `k8s://https://host:port` or `yarn`."""

    url: str

    @property
    def is_local(self) -> bool:
        """Whether Spark runs inside the worker's own JVM."""
        return self.url.startswith("local")

    @property
    def retrying(self) -> str:
        """The URL with which a task is tried as often as on a cluster: a local master tries each only once.

        A Python process that the system kills for want of memory would end the job.
        """
        cores = _LOCAL.fullmatch(self.url)
        return f"local[{cores[1] or 1},{_TRIES}]" if cores else self.url

    @property
    def servers(self) -> tuple[tuple[str, int], ...]:
        """Hosts and ports, one of which must accept connections; none for `local`, and for `yarn`, whose address is in
        Hadoop's configuration.
        """
        scheme, _, rest = self.url.partition("://")
        if scheme not in _DEFAULT_PORT:
            return ()
        default = _DEFAULT_PORT[scheme]
        return tuple((host.strip("[]"), int(port or default)) for host, port in _SERVER.findall(rest))

    def connect(self, *, within_s: float) -> str | None:
        """Connect to the master.

        Returns
        -------
        The address of this machine on the route to the master, to which executors can connect; None if there is no
        server to connect to.

        Raises
        ------
        SparkUnavailable
            None of its servers accepts a connection in time.
        """
        refusals = []
        for server in self.servers:
            try:
                with socket.create_connection(server, timeout=within_s) as connection:
                    return str(connection.getsockname()[0])
            except OSError as failure:
                refusals.append(failure.strerror or str(failure))
        if not self.servers:
            return None
        raise SparkUnavailable(f"{self.url} cannot be reached: {'; '.join(refusals)}", master=self.url)
