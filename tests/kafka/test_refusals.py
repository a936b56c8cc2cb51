"""The script of an archive begins nothing if an input of it is bad, and says which one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kafka import jars
from tests.kafka.cluster import Cluster, main_classes, running, write_tools
from tests.kafka.conftest import release, require
from tests.kafka.handing import planned, run, snapshot, unpacked
from tests.kafka.kills import lasting_throttles

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
QUICK = "request.timeout.ms=2000\ndefault.api.timeout.ms=3000\n"


def moves(client: httpx.Client, kafka: Cluster, folder: Path) -> Path:
    """The archive of a plan that moves a replica of each partition of a topic, which it makes."""
    kafka.create_topic("guarded", partitions=2, factor=2)
    kafka.fill("guarded", records=100)
    pins = [
        {"topic": "guarded", "partition": number, "replicas": [first, *({1, 2, 3} - {first, second})]}
        for number, (first, second) in enumerate(kafka.replicas_of("guarded"))
    ]
    plan = planned(client, snapshot(client, kafka), {"pins": pins, "batches": {"throttle_bytes_per_s": 1_000_000}})
    return unpacked(client, plan, folder)


@pytest.fixture
def folder(three: Cluster, client: httpx.Client, tmp_path: Path) -> Iterator[Path]:
    yield moves(client, three, tmp_path / "plan")
    three.tool("kafka-topics", "--delete", "--topic", "guarded")


@pytest.fixture
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers with access control."""
    require()
    settings: dict[str, Any] = {"authorizer_class_name": AUTHORIZER, "allow_everyone_if_no_acl_found": "true"}
    folder = tmp_path_factory.mktemp("kafka") / "guarded"
    with running(folder, ("r1", "r2", "r3"), release=release(), **settings) as kafka:
        yield kafka


def refused(kafka: Cluster, folder: Path, **settings: str) -> str:
    """The output, with the reason; nothing has moved."""
    before = kafka.replicas()
    done = run(kafka, folder, **settings)
    assert done.returncode == 1, done.stdout + done.stderr
    assert kafka.replicas() == before
    return done.stdout + done.stderr


def test_no_broker_answers(three: Cluster, folder: Path) -> None:
    (folder / "client.properties").write_text(QUICK)
    reason = refused(three, folder, KAFKA_BOOTSTRAP="127.0.0.1:9", KAFKA_COMMAND_CONFIG="client.properties")
    assert "127.0.0.1:9 does not answer as a broker" in reason


def test_a_file_of_the_archive_was_changed_or_is_missing(three: Cluster, folder: Path) -> None:
    for name in ("01-execute.json", "plan.txt", "run.sh", "01-rollback.json"):
        as_exported = (folder / name).read_text()
        if name == "01-rollback.json":
            (folder / name).unlink()
        else:
            (folder / name).write_text(f"{as_exported}\n")
        reason = refused(three, folder)
        assert f"{name}: FAILED" in reason
        assert "a file of the plan was changed, or is missing" in reason
        (folder / name).write_text(as_exported)


def test_the_alarm_command_fails(three: Cluster, folder: Path) -> None:
    assert "the alarm command failed: test -e /nowhere" in refused(three, folder, ALARM="test -e /nowhere")


LACKING = {
    "preserve-throttles": ("kafka-reassign-partitions", "-execute.json cannot be verified"),
    "under-min-isr-partitions": ("kafka-topics", "under-min-isr partitions cannot be listed"),
}
"""By option: the tool, and the reason."""


def test_a_tool_lacks_an_option(three: Cluster, folder: Path) -> None:
    """As that of another release: it answers with the name of the option."""
    tools = folder.parent / "tools"
    tools.mkdir()
    for option, (tool, reason) in LACKING.items():
        for path in three.bin.iterdir():
            (tools / path.name).unlink(missing_ok=True)
            (tools / path.name).symlink_to(path)
        script = tools / f"{tool}.sh"
        script.unlink()
        unknown = (
            f"Exception in thread main joptsimple.UnrecognizedOptionException: {option} is not a recognized option"
        )
        script.write_text(
            f'#!/bin/bash\nif [[ " $* " = *" --{option} "* ]]; then echo "{unknown}" >&2; exit 1; fi\n'
            f'exec {three.bin}/{tool}.sh "$@"\n'
        )
        script.chmod(0o755)
        printed = refused(three, folder, KAFKA_BIN=str(tools))
        assert reason in printed
        assert f"{option} is not a recognized option" in printed


@pytest.mark.parametrize("other", [each for each in (jars.RELEASES[0], jars.NEWEST) if each != release()])
def test_tools_of_another_release_execute_it(three: Cluster, folder: Path, other: str) -> None:
    """All that are resolved have the options."""
    if not (jars.FOLDER / other).is_dir():
        pytest.skip(f"the artifacts of {other} are not resolved")
    tools = folder.parent / "tools"
    write_tools(tools, main_classes(other), [f"{jars.resolve(other)}/*"], tools / "no archive")
    before = three.replicas_of("guarded")
    for option in ((), ("--rollback",)):
        done = run(three, folder, *option, KAFKA_BIN=str(tools))
        assert done.returncode == 0, done.stdout + done.stderr
        assert (three.replicas_of("guarded") == before) == bool(option)
    assert lasting_throttles(three) == []


def test_it_is_another_cluster(three: Cluster, kafka: Cluster, folder: Path) -> None:
    """Without the topics of the plan."""
    reason = refused(three, folder, KAFKA_BOOTSTRAP=kafka.bootstrap)
    assert "this is another cluster" in reason


RIGHTS = [
    ("Describe", "--cluster", "DESCRIBE on the cluster and on the topics"),
    ("AlterConfigs", "--cluster", "ALTER_CONFIGS on the cluster and on the topics"),
    ("Describe", "--topic=guarded", "DESCRIBE on the cluster and on the topics"),
    ("DescribeConfigs", "--topic=guarded", "DESCRIBE and DESCRIBE_CONFIGS on the topics"),
    ("AlterConfigs", "--topic=guarded", "ALTER_CONFIGS on the cluster and on the topics"),
    ("Alter", "--cluster", "ALTER on the cluster"),
]
"""Those that a plan needs, by operation and resource, and the words of the script for it."""


@pytest.mark.long
def test_a_right_is_missing(guarded: Cluster, client: httpx.Client, tmp_path: Path) -> None:
    """Each by itself; without the last one, access control cannot be changed any more."""
    folder = moves(client, guarded, tmp_path / "plan")
    before = guarded.replicas()
    everyone = ("--allow-principal", "User:*", "--operation", "All", "--cluster", "--topic=*", "--force")
    guarded.tool("kafka-acls", "--add", *everyone)
    for operation, resource, words in RIGHTS:
        denial = ("--deny-principal", "User:ANONYMOUS", "--operation", operation, resource, "--force")
        guarded.tool("kafka-acls", "--add", *denial)
        stopped = run(guarded, folder)
        if operation != "Alter":
            guarded.tool("kafka-acls", "--remove", *denial)
        reason = stopped.stdout + stopped.stderr
        assert stopped.returncode == 1, reason
        kind = "Cluster" if resource == "--cluster" else "Topic"
        assert (
            f"{kind}AuthorizationException" in reason
            or f"{kind} authorization failed" in reason
            or f"needs {operation.upper()} permission" in reason
            or "is not authorized" in reason  # Kafka 4.0, of the cluster
        ), reason
        [denied] = [line for line in stopped.stderr.splitlines() if line.startswith("Kafka denied this; it needs ")]
        assert words in denied
        assert guarded.replicas() == before
        assert lasting_throttles(guarded) == [], (operation, resource)
