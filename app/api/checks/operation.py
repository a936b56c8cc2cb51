"""`POST /v1/checks`: verify a reassignment of any origin, or report the health of a cluster."""

from dataclasses import replace
from typing import Annotated

from fastapi import Body, Query, Response
from pydantic import BeforeValidator

from app.api import examples
from app.api.checks.requests import CheckRequest, run_check
from app.api.http.auth import RequestLimits, Uow, json_or_text, of_text
from app.api.http.idempotency import OnceOnly
from app.api.http.operations import Operations, json_response
from app.services.checks.verification import CheckDocument
from app.services.fields import Id, Name

router = Operations("/v1/checks", "checks")


@router.operation("POST", answer=CheckDocument, takes=json_or_text, openapi_extra=examples.CHECK_TEXT)
def check_reassignment(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    body: Annotated[CheckRequest, BeforeValidator(of_text), Body(openapi_examples=examples.CHECK_REQUEST)],
    snapshot_id: Annotated[
        Id | None,
        Query(description="The snapshot, for a `text/plain` body.", examples=[str(examples.EXAMPLE_SNAPSHOT_ID)]),
    ] = None,
    cluster: Annotated[Name | None, Query(description="The cluster's name, for a `text/plain` body.")] = None,
) -> Response:
    """Verify a reassignment from any source, or a cluster as it is.

    Check a reassignment: its violations, its balance, the bytes that it copies and the lower bound for the same end,
    and whether the cluster has changed since the snapshot. If Kafka rejects it as a whole (an unknown broker or
    partition, a replica listed twice), the answer is a problem that names each place.

    The reassignment is JSON, or the `output` of `kafka-reassign-partitions`: of `--verify` the answer has the progress.
    A `text/plain` body is that output, or a proposal of another tool, and the query names the snapshot or the cluster.
    Without both, the cluster is checked as it is: violations, loads of brokers, excess over limits, the first
    load to fail when a broker or a rack is lost, and the least movement that repairs racks and limits.
    """

    request = replace(body, snapshot_id=body.snapshot_id or snapshot_id, cluster=body.cluster or cluster)
    return once(lambda: json_response(run_check(uow, request, limits).as_json()))
