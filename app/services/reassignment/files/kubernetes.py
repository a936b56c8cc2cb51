"""A plan as a manifest of Kubernetes: its batches in ConfigMaps, and a Job that executes them in their order.

The Job runs `run.sh`, as a person does with the archive. A ConfigMap has at most 1 MiB, so that large plans take
several; all are mounted in one folder. The Job is not retried by itself: a failure is for a person to look at.
Applying it again goes on where it stopped.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.core.kafka_versions import KafkaVersion
from app.errors.every import NotExportable, escaped
from app.services.plans.exports import filled
from app.services.reassignment.files.script import COPIES
from app.store.records import NewPlan, PlanHead

_JOB = Path(__file__).with_name("job.yaml")
MOST_BYTES = 1_000_000
"""The most bytes of the files of a ConfigMap, below the 1,048,576 of all that it has."""
MOST_CONFIG_MAPS = 50
_OLDEST_IMAGE = KafkaVersion(3, 7)
"""The first release of the image `apache/kafka`; its tools work with older brokers."""


def write(head: PlanHead | NewPlan, files: Mapping[str, bytes]) -> bytes:
    """The manifest.

    Parameters
    ----------
    files : by name, for the folder in which the script runs.

    Raises
    ------
    NotExportable : a file is larger than a ConfigMap may be, or they are too many.
    """
    import yaml  # noqa: PLC0415 — for this format alone

    name = f"rackplan-{head.hash[:12]}"
    # Without the copies of a very large plan progress has no bytes.
    maps = list(_maps({key: file for key, file in files.items() if key != COPIES or len(file) <= MOST_BYTES}))
    if len(maps) > MOST_CONFIG_MAPS:
        detail = f"the batches are {len(maps)} ConfigMaps; at most {MOST_CONFIG_MAPS} are written"
        raise NotExportable(detail, config_maps=len(maps), limit=MOST_CONFIG_MAPS)
    names = [f"{name}-{number}" for number in range(1, len(maps) + 1)]
    documents = [_config_map(one, content) for one, content in zip(names, maps, strict=True)]
    text = yaml.dump_all(documents, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=sys.maxsize)
    where = f" of the cluster {escaped(head.cluster)}" if head.cluster else ""
    head_lines = (
        f"# Executes plan {head.hash[:12]}{where} batch by batch.\n"
        "# Before it is applied: KAFKA_BOOTSTRAP and image are those of your cluster.\n"
    )
    return f"{head_lines}{text}---\n{_job(head, name, names)}".encode()


def _maps(files: Mapping[str, bytes]) -> Iterator[dict[str, str]]:
    """The files, in their order, as the contents of ConfigMaps."""
    content: dict[str, str] = {}
    size = 0
    for name, file in files.items():
        if len(file) > MOST_BYTES:
            detail = f"{name} is {len(file)} bytes, and a ConfigMap has at most {MOST_BYTES}; limit max_partitions"
            raise NotExportable(detail + " of batches", file=name, value=len(file), limit=MOST_BYTES)
        if size + len(file) > MOST_BYTES:
            yield content
            content, size = {}, 0
        content[name] = file.decode()
        size += len(file)
    yield content


def _config_map(name: str, content: Mapping[str, str]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": dict(content)}


def _job(head: PlanHead | NewPlan, name: str, config_maps: Sequence[str]) -> str:
    request: Any = head.request
    version = max(KafkaVersion.of(request["kafka_version"]), _OLDEST_IMAGE)
    sources = "\n".join(f"          - configMap:\n              name: {one}" for one in config_maps)
    return filled(_JOB, name=name, version=version, sources=sources)


def _dumper() -> Any:
    """A writer of YAML that writes texts of several lines as blocks.

    A text with any other character that is not printable is in double quotes, where it is an escape: a reader of YAML
    1.1 ends a line of a block at U+0085, and run.sh would execute the rest of it as a line of its own.
    """
    import yaml  # noqa: PLC0415 — for this format alone

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: Any, value: str) -> Any:
        is_printable = all(line.isprintable() for line in value.split("\n"))
        style = ("|" if "\n" in value else None) if is_printable else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return Dumper
