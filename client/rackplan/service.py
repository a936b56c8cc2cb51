"""The service itself: whether it is alive and ready, its figures, the usage of teams, and the errors of predictions."""

from __future__ import annotations

from rackplan import models
from rackplan.exchange import exchange, path
from rackplan.flows import Bound, Flow, K, Request, operation


class ServiceOperations(Bound[K]):
    """Operations for what runs the service."""

    @operation
    def healthz(self) -> Flow[models.Alive]:
        """Whether the service is alive."""
        response = yield from exchange(self._client, Request("GET", "/healthz"))
        return models.Alive(response.json())

    @operation
    def readyz(self) -> Flow[models.Ready]:
        """Whether the service is ready; raises `ServerFailed` if it is not, after the permitted number of attempts."""
        response = yield from exchange(self._client, Request("GET", "/readyz"))
        return models.Ready(response.json())

    @operation
    def get_usage(self) -> Flow[models.UsageDocument]:
        """The usage and the quotas of the team; of every team for a key of all teams."""
        response = yield from exchange(self._client, Request("GET", path("usage")))
        return models.UsageDocument(response.json())

    @operation
    def get_ledger(self, *, cluster: str | None = None) -> Flow[models.LedgerSummaryDocument]:
        """The errors of predicted bytes and seconds over the plans that were executed, of one cluster or of all."""
        response = yield from exchange(self._client, Request("GET", path("ledger"), {"cluster": cluster}))
        return models.LedgerSummaryDocument(response.json())

    @operation
    def metrics(self) -> Flow[str]:
        """The figures of the service, as Prometheus reads them."""
        response = yield from exchange(self._client, Request("GET", "/metrics", headers={"Accept": "text/plain"}))
        return response.text
