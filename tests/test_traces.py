"""OpenTelemetry: nothing if it is off; else spans with one trace id, from a request to Spark, at a real receiver."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from app import tracing
from tests import databases, receiver
from tests.conftest import ROOT
from tests.test_cli import serving

TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
REQUEST = {
    "brokers": [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}],
    "algorithm": "striped",
    "topics": [{"name": "orders", "partitions": 3, "replication_factor": 2}],
}


@pytest.mark.parametrize(
    ("environment", "configured"),
    [
        ({}, False),
        ({ENDPOINT: "http://127.0.0.1:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({ENDPOINT: "http://127.0.0.1:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
        ({ENDPOINT: "http://127.0.0.1:4318", "OTEL_SDK_DISABLED": "true"}, False),
        ({ENDPOINT: ""}, False),
    ],
)
def test_when_traces_are_exported(environment: dict[str, str], configured: bool) -> None:
    assert tracing.is_configured(environment) == configured


def test_without_configuration_nothing_is_imported() -> None:
    code = (
        "import sys, app.main; from app import tracing\n"
        "app.main.create_app(app.main.Settings(database_url='postgresql://'))\n"
        "with tracing.continued('00-x'), tracing.span('s', a=1) as span: print(span, tracing.traceparent())\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], env={}, capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert printed == "None None\n[]\n"


@pytest.fixture
def exporting(monkeypatch: pytest.MonkeyPatch) -> Iterator[receiver.Receiver]:
    with _collector() as (collector, endpoint):
        monkeypatch.setenv(ENDPOINT, endpoint)
        tracing.start("test", "1")
        yield collector
        tracing.stop()


@pytest.mark.parametrize(
    "received", ["", "00-x", "ff-" + "0" * 52, "\x00", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "é" * 9]
)
def test_any_traceparent_is_taken(exporting: receiver.Receiver, received: str) -> None:
    with tracing.continued(received), tracing.span("s", "server", rackplan_plan__hash="h"):
        assert tracing.log_fields()["trace_id"] != "0" * 32
    tracing.stop()
    [span] = spans(exporting.wait_for(1))
    assert (span.name, span.kind, not span.parent_span_id) == ("s", Span.SPAN_KIND_SERVER, True)
    assert {a.key: a.value.string_value for a in span.attributes} == {"rackplan.plan_hash": "h"}


def test_tasks_are_siblings_and_exceptions_end_spans_as_failed(exporting: receiver.Receiver) -> None:
    with tracing.continued(TRACEPARENT), tracing.span("chunk"):
        assert tracing.origin() == TRACEPARENT
        with pytest.raises(ValueError, match="x"), tracing.span("inner"):
            raise ValueError("x")
    tracing.stop()
    inner, chunk = spans(exporting.wait_for(1))
    assert {inner.trace_id.hex(), chunk.trace_id.hex()} == {TRACE}
    assert (inner.parent_span_id, chunk.parent_span_id.hex()) == (chunk.span_id, "b7ad6b7169203331")
    assert (inner.status.code, chunk.status.code) == (2, 0)


@pytest.mark.long
def test_one_trace_from_a_request_to_spark(migrated_data_dir: Path) -> None:
    with _collector() as (collector, endpoint), databases.folder_of_postgres() as folder:
        subprocess.run(["cp", "-a", migrated_data_dir, folder / "data"], check=True)
        settings = {ENDPOINT: endpoint, "OTEL_BSP_SCHEDULE_DELAY": "100", "RACKPLAN_SPARK_MASTER": "local[1]"}
        with serving(folder / "data", is_forked=False, RACKPLAN_SOLVER_PROCESSES="1", **settings) as service:
            client = service.client
            client.headers["traceparent"] = TRACEPARENT
            assert client.post("/v1/plans/replicas", json=REQUEST).status_code == 201
            job = client.post("/v1/plans/replicas", json=REQUEST | {"seed": 7}, headers={"Prefer": "respond-async"})
            sweep = client.get("/openapi.json").json()["paths"]["/v1/sweeps"]["post"]["requestBody"]["content"]
            example = sweep["application/json"]["examples"]["grid"]["value"]
            accepted = client.post("/v1/sweeps", json=example)
            assert (job.status_code, accepted.status_code) == (202, 202), accepted.text
            missing = {
                ("POST /v1/plans/replicas", "slot"),
                ("run_job", "solve replicas"),
                ("run_sweep", "spark scenarios"),
            }
            while missing:  # processes send their spans when they like
                assert len(collector.received) < 400, missing
                if ("POST /v1/plans/replicas", "slot") in missing:  # which starts after the service
                    assert client.post("/v1/plans/replicas", json=REQUEST).status_code == 201
                received = collector.wait_for(len(collector.received) + 1, within_s=120)
                found = [span for span in spans(received) if span.trace_id.hex() == TRACE]
                names = {span.span_id: span.name for span in found}
                missing -= {(names.get(span.parent_span_id), span.name) for span in found}


@contextmanager
def _collector() -> Iterator[tuple[receiver.Receiver, str]]:
    with receiver.receiving() as collector:
        yield collector, f"http://127.0.0.1:{collector.port}"


def spans(received: list[receiver.Received]) -> list[Span]:
    """The spans that a collector has received, in the order in which they ended."""
    exports = [ExportTraceServiceRequest.FromString(r.body.encode(errors="surrogateescape")) for r in received]
    assert {r.path for r in received} == {"/v1/traces"}
    return [
        span
        for export in exports
        for resource in export.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
