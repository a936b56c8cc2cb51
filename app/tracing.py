"""Traces of OpenTelemetry: spans of requests, plans, jobs and Spark jobs with one trace id, if they are configured.

They are if the environment names where they go (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, or
`OTEL_TRACES_EXPORTER=otlp`) and `OTEL_SDK_DISABLED` is not true. Otherwise nothing of OpenTelemetry is imported, and a
span is an empty context. The id crosses between processes as a W3C `traceparent`: in the header of a request, in the
arguments of a task on the queue.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_NOTHING: AbstractContextManager[Any] = nullcontext()

_tracer: "Tracer | None" = None
_provider: "TracerProvider | None" = None
_received: ContextVar[str | None] = ContextVar("received", default=None)


def is_configured(environment: Mapping[str, str]) -> bool:
    """Whether the environment asks for traces."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = environment.get("OTEL_TRACES_EXPORTER", "")
    return exporter == "otlp" or (exporter == "" and any(environment.get(name) for name in _ENDPOINTS))


def start(process: str, version: str) -> None:
    """Export spans from now on, if the environment asks for it. A fork has to call it anew: it has no threads.

    Parameters
    ----------
    process : the part of the service that this process is, `rackplan.process` of its spans.
    """
    global _tracer, _provider  # noqa: PLW0603 — as with logging, there is one of a process
    if not is_configured(os.environ):
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 — if configured
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 — if configured
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 — if configured
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 — if configured

    os.environ.setdefault("OTEL_SERVICE_NAME", "rackplan")
    resource = Resource.create({"service.version": version, "rackplan.process": process})
    _provider = TracerProvider(resource=resource)
    _provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    _tracer = _provider.get_tracer("rackplan", version)


def stop() -> None:
    """Export the remaining spans, and none from now on."""
    global _tracer, _provider
    provider, _provider, _tracer = _provider, None, None
    if provider is not None:
        provider.shutdown()


def flush() -> None:
    """Export the spans that have ended: a slot's process is killed when its service ends."""
    if _provider is not None:
        _provider.force_flush(1_000)


def span(name: str, kind: str = "internal", **attributes: str | int | float) -> "AbstractContextManager[Span | None]":
    """A span of this context, or nothing. An exception ends it as failed.

    Parameters
    ----------
    kind : `server` of a request, `consumer` of a task, `producer`, `client`, `internal`.
    attributes : values without secrets; `_` in their names becomes `.`, and `__` becomes `_`.
    """
    if _tracer is None:
        return _NOTHING
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 — see `start`

    return _tracer.start_as_current_span(name, kind=SpanKind[kind.upper()], attributes=_named(attributes))


def annotate(span: "Span | None", *, name: str | None = None, **attributes: str | int | float) -> None:
    """Add attributes at the end of a span, and perhaps its name."""
    if span is None:
        return
    if name is not None:
        span.update_name(name)
    span.set_attributes(_named(attributes))


def fail(span: "Span | None") -> None:
    """Mark a span as failed that no exception ends."""
    if span is not None:
        from opentelemetry.trace import StatusCode  # noqa: PLC0415 — see `start`

        span.set_status(StatusCode.ERROR)


def _named(attributes: Mapping[str, str | int | float]) -> dict[str, str | int | float]:
    return {name.replace("__", "-").replace("_", ".").replace("-", "_"): value for name, value in attributes.items()}


@contextmanager
def continued(traceparent: str | None) -> Iterator[None]:
    """Spans within this context belong to the trace of another process, if there is one; any text is accepted."""
    if _tracer is None or not traceparent:
        yield
        return
    from opentelemetry import context  # noqa: PLC0415 — see `start`
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415 — see `start`

    token = context.attach(TraceContextTextMapPropagator().extract({"traceparent": traceparent}))
    received = _received.set(traceparent)
    try:
        yield
    finally:
        _received.reset(received)
        context.detach(token)


def traceparent() -> str | None:
    """The current span for another process; None without one."""
    if _tracer is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415 — see `start`

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get("traceparent")


def origin() -> str | None:
    """The span that `continued` gave this task, else the current one: tasks of one sweep are siblings, not a chain."""
    return None if _tracer is None else _received.get() or traceparent()


def log_fields() -> dict[str, str]:
    """`trace_id`, 32 hexadecimal digits, for lines of the log; nothing without a trace."""
    current = traceparent()
    return {} if current is None else {"trace_id": current.split("-")[1]}
