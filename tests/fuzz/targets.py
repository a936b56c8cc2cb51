"""Fuzz targets: every reader of `app.formats`, and every model of a request's body; plans are made of valid ones.

A target takes any bytes. It returns if these are read or rejected (a `Failure`, pydantic's `ValidationError`), and
raises anything else on a fault. Readers and models are found by their signatures, so that new ones are fuzzed, too.
"""

import inspect
import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from itertools import chain
from typing import Any

import orjson
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

import app.formats
from app.api.models.clusters import SnapshotRequest
from app.api.problems.documents import _rendered as rendered
from app.api.problems.field_errors import field_errors, first_of, within_body
from app.api.resources import ROUTERS
from app.core.model import Cluster
from app.errors import Failure
from app.formats.decoding import as_json
from app.formats.groups.group_cells import TableForm
from app.formats.snapshots import assembly, pasted, snapshot_columns, snapshot_json
from app.formats.syntax import documents, lines
from app.formats.syntax.wire_formats import ByteEncoding, WireFormat
from app.services.limits import Limits
from app.services.plans import draft_plan, plan_json
from app.services.plans.kinds import KINDS
from tests.api.operations import OPERATIONS
from tests.conftest import ROOT, SAMPLES

LIMITS = Limits(
    max_brokers=64,
    max_topics=64,
    max_members=64,
    max_events=8,
    max_partitions=2_000,
    max_replicas=8_000,
    max_sync_partitions=2_000,
    max_key_placements=20_000,
    max_scenarios=1_000,
)
"""Of plans that are made while fuzzing: small ones have all the same code."""
LONGEST_BYTES = 16_384
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
_DRAFTS = "draft"
_HOSTILE_JSON = (b"", b"{", b"[]", b"null", b"0", b'"\\ud800"', b"[" * 5_000, b'{"a":' * 2_000, b"\xff\xfe{", b"1e999")
# These take more than the text; a value for each further parameter.
_ARGUMENTS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "clusters.ingress_rates.read_csv": [{"path": ("rates",)}],
    "kafka_files.reassignment.read_between": [
        {"after": "Current partition replica assignment", "until": "Proposed partition reassignment configuration"},
        {"after": "Proposed partition reassignment configuration", "until": None},
    ],
    "groups.group_tables.read": [{"required": ("GROUP",)}, {"required": ("GROUP", "TOPIC", "PARTITION")}],
}


@dataclass(frozen=True, slots=True)
class Target:
    """A function of bytes, and the parts of its inputs. `slow_s` is the longest CPU time of an input."""

    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], Sequence[bytes]]
    is_json: bool = False
    slow_s: float = 2.0

    def corpus(self) -> list[bytes]:
        """Inputs that had once a fault."""
        return [path.read_bytes() for path in sorted((CORPUS / self.name).glob("*"))]


def targets() -> dict[str, Target]:
    """All targets by name."""
    found = [*_readers(), *_composed(), *_models(), *_drafts()]
    return {target.name: target for target in found}


def target_of(name: str) -> Target:
    """The target of a name, without importing others' modules."""
    family = (*_models(), *_drafts()) if name.startswith(("body.", "draft.")) else (*_readers(), *_composed())
    return next(target for target in family if target.name == name)


def readers() -> Iterator[tuple[str, Callable[..., Any], bool]]:
    """Every public function `read…` of `app.formats` whose input is a text or bytes: name, itself, if it is text."""
    for module in pkgutil.walk_packages(app.formats.__path__, "app.formats."):
        loaded = import_module(module.name)
        for name, function in vars(loaded).items():
            if not inspect.isfunction(function) or function.__module__ != module.name or not name.startswith("read"):
                continue
            if function in (snapshot_json.read, snapshot_columns.read):  # of the store alone, for texts that it wrote
                continue
            first = next(iter(inspect.signature(function).parameters.values()))
            if first.annotation in (str, bytes, "str", "bytes"):
                yield f"{module.name.removeprefix('app.formats.')}.{name}", function, first.annotation in (str, "str")


def _readers() -> Iterator[Target]:
    for name, function, is_text in readers():
        required = [
            parameter.name
            for parameter in list(inspect.signature(function).parameters.values())[1:]
            if parameter.default is parameter.empty
        ]
        if "form" in required:  # of a table; its module has them
            calls: Sequence[Mapping[str, Any]] = [{"form": form} for form in _table_forms()]
        else:
            calls = _ARGUMENTS.get(name, [{}])
        assert all(set(required) <= call.keys() for call in calls), f"{name} needs {required}: see _ARGUMENTS"
        yield Target(name, partial(_read, function, calls, is_text), _texts if is_text else _bytes)


def _table_forms() -> list[TableForm[Any]]:
    return [
        value
        for module in pkgutil.walk_packages(app.formats.__path__, "app.formats.")
        for value in vars(import_module(module.name)).values()
        if isinstance(value, TableForm)
    ]


def _read(function: Callable[..., Any], calls: Sequence[Mapping[str, Any]], is_text: bool, content: bytes) -> None:
    value: str | bytes = content.decode("utf-8", "replace") if is_text else content
    for call in calls:
        with suppress(Failure):
            function(value, **call)


def _composed() -> Iterator[Target]:
    """Readers that are not a function `read…` of one text, or join several."""
    yield Target("assembly", _assemble, _texts)
    yield Target("decompression", _decode, lambda: [b"\x1f\x8b\x08\x00", b"\xff\xfea\x00", b"\xef\xbb\xbfa"])
    yield Target("documents", _documents, _texts)
    yield Target("decoding", _decoding, _bytes)


def _assemble(content: bytes) -> None:
    with suppress(Failure):
        found = assembly.assemble("c", [pasted.Upload(lines.decode(content, "upload"), "upload")])
        _written_and_read(found.cluster)


def _written_and_read(cluster: Cluster) -> None:
    written = snapshot_json.write(cluster)
    assert snapshot_json.write(snapshot_json.read(written)) == written, "a snapshot is not read as it was written"


def _decode(content: bytes) -> None:
    with suppress(Failure):
        lines.decode(content, "upload", max_bytes=1_000_000)


def _documents(content: bytes) -> None:
    with suppress(Failure):
        for _ in documents.each_document(content.decode("utf-8", "replace"), "a document"):
            pass


def _decoding(content: bytes) -> None:
    for wire_format in WireFormat:
        for encoding in ByteEncoding:
            with suppress(Failure):
                as_json(wire_format, content, encoding)


def _models() -> Iterator[Target]:
    for route in chain.from_iterable(_routes(router.routes) for router in ROUTERS.values()):
        for parameter in route.dependant.body_params:
            annotation: Any = parameter.field_info.annotation
            adapter = TypeAdapter[Any](annotation)
            name = f"body.{route.operation_id}"
            yield Target(name, partial(_validate, adapter), partial(_example_bodies, route.operation_id), is_json=True)
    snapshot = partial(_snapshot, TypeAdapter(SnapshotRequest))
    yield Target("body.create_snapshot", snapshot, partial(_example_bodies, "create_snapshot"), is_json=True)


def _routes(routes: Sequence[Any]) -> Iterator[APIRoute]:
    for route in routes:
        if isinstance(route, APIRoute):
            if route.include_in_schema:
                yield route
        else:  # FastAPI keeps included routers apart
            yield from _routes(getattr(route, "original_router", route).routes)


def _validate(adapter: TypeAdapter[Any], content: bytes) -> Any:
    """A valid request as its service takes it; None if it is rejected, with the problem that says so."""
    try:
        body = json.loads(content)  # as FastAPI does
    except (ValueError, RecursionError):  # a 400 of the application
        return None
    try:
        request = adapter.validate_python(body)
    except ValidationError as invalid:
        shown = field_errors(within_body(invalid), body)
        rendered({"detail": first_of(shown, total=len(shown)), "errors": shown})
        return None
    try:
        return request.service() if hasattr(request, "service") else request
    except Failure:
        return None


def _snapshot(adapter: TypeAdapter[Any], content: bytes) -> None:
    request = _validate(adapter, content)
    if request is not None:
        with suppress(Failure):
            _written_and_read(request.core())


def _drafts() -> Iterator[Target]:
    """Plans of each kind: on the brokers that the request lists, else on a small cluster."""
    from app.api.forms import _MODELS  # noqa: PLC0415 — it is instrumented first

    for kind, found in KINDS.items():
        name = f"{_DRAFTS}.{kind}"
        run = partial(_draft, _MODELS[kind], found.planner)
        yield Target(name, run, partial(_example_bodies, f"plan_{kind}"), is_json=True, slow_s=20.0)


def _draft(adapter: TypeAdapter[Any], planner: Any, content: bytes) -> None:
    request = _validate(adapter, content)
    if request is None:
        return
    has_own = getattr(request, "brokers", None) or getattr(request, "clients", None) or getattr(request, "topics", None)
    with suppress(Failure):
        needs_cluster = request.snapshot_id is not None or planner.kind == "reassignment" or not has_own
        planned = draft_plan(planner, request, _cluster() if needs_cluster else None, LIMITS)
        plan_json(planned)


@cache
def _cluster() -> Cluster:
    """The cluster of the documentation's snapshot."""
    texts = ("kafka-broker-api-versions.txt", "kafka-topics-describe.txt", "kafka-log-dirs-describe.txt")
    uploads = [pasted.Upload((SAMPLES / name).read_text(encoding="utf-8"), name) for name in texts]
    return assembly.assemble("samples", uploads).cluster


@cache
def _texts() -> Sequence[bytes]:
    """The samples, each no longer than the first lines that fit."""
    paths = [path for path in sorted(SAMPLES.rglob("*")) if path.is_file() and path.suffix != ".md"]
    contents = [path.read_bytes() for path in paths]
    shortened = [c if len(c) <= 4_000 else c[: c.rfind(b"\n", 0, 4_000) + 1] or c[:4_000] for c in contents]
    return [*shortened, *(c for c in contents if 4_000 < len(c) <= LONGEST_BYTES), b""]


@cache
def _bytes() -> Sequence[bytes]:
    """The bytes that tests of the formats have, and the samples of generated ones."""
    import re  # noqa: PLC0415 -- only here

    written = {b"", b"\x00\x01" + b"\x00" * 12}
    for path in sorted((ROOT / "tests" / "formats").glob("test_*.py")):
        for quoted in re.findall(r'"((?:[0-9a-f]{2}[0-9a-f ]*){4,})"', path.read_text(encoding="utf-8")):
            with suppress(ValueError):
                written.add(bytes.fromhex(quoted))
    return sorted(written)


@cache
def _example_bodies(operation_id: str) -> Sequence[bytes]:
    bodies: list[Any] = []
    for _, _, operation in OPERATIONS:
        if operation["operationId"] == operation_id:
            for media in operation.get("requestBody", {}).get("content", {}).values():
                bodies += [example["value"] for example in media.get("examples", {}).values()]
    seeds = [orjson.dumps(body) for body in bodies]
    return [*(seed for seed in seeds if len(seed) <= 4 * LONGEST_BYTES), *_HOSTILE_JSON]
