"""The options of `rackplan plan …`.

Each command imports its dependencies when it runs, so that `rackplan --help` is fast.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import hand_over

KafkaVersion = Annotated[str | None, typer.Option(help="The release of Kafka, such as 4.2. Default: the newest.")]
Features = Annotated[
    Path | None, typer.Option(help="The output of kafka-features describe, or a broker's log.", exists=True)
]

plan = typer.Typer(help="Make plans from files, without a service.", no_args_is_help=True)


@contextmanager
def _no_collections() -> Iterator[None]:
    """Import without collections of garbage: the objects that imports create stay, and none would be freed."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@plan.command("replicas")
def plan_replicas(
    topic: Annotated[
        list[str], typer.Option(help="name:partitions:replication_factor[:start_partition_id]; repeatable.")
    ],
    brokers: Annotated[
        Path | None,
        typer.Option(help="kafka-broker-api-versions, ZooKeeper registrations or metadata bytes.", exists=True),
    ] = None,
    topics: Annotated[Path | None, typer.Option(help="The output of kafka-topics --describe.", exists=True)] = None,
    log_dirs: Annotated[Path | None, typer.Option(help="The output of kafka-log-dirs --describe.", exists=True)] = None,
    cluster: Annotated[str, typer.Option(help="The cluster's name.")] = "offline",
    algorithm: Annotated[
        str | None, typer.Option(help="admin_utils, striped or awareness. Default: that of the cluster's controller.")
    ] = None,
    rack_mode: Annotated[str | None, typer.Option(help="enforced, safe or disabled.")] = None,
    fixed_start_index: Annotated[int | None, typer.Option(help="Start index of admin_utils.", min=0)] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the generator.")] = None,
    features: Features = None,
    kafka_version: KafkaVersion = None,
    policy: Annotated[
        str | None,
        typer.Option(help="For awareness: spread, forced, hdfs, redis or kafka. Default: spread, over racks."),
    ] = None,
    forced: Annotated[
        list[str] | None, typer.Option(help="For the policy forced: an expected rack; repeatable.")
    ] = None,
    export: Annotated[str | None, typer.Option(help="Print this format instead of the plan's JSON.")] = None,
) -> None:
    """Place new topics; the JSON is that of POST /v1/plans/replicas."""
    with _no_collections():
        from app.cli.offline import Texts  # noqa: PLC0415 — see the module's docstring
        from app.cli.plan_replicas import Choices, place  # noqa: PLC0415 — see the module's docstring

    written = place(
        topic,
        texts=Texts(brokers=brokers, topics=topics, log_dirs=log_dirs, features=features),
        cluster=cluster,
        choices=Choices(algorithm, rack_mode, fixed_start_index, seed, policy, forced or (), kafka_version),
        export=export,
    )
    hand_over(written, None)


@plan.command("reassignment")
def plan_reassignment(
    topics: Annotated[Path, typer.Option(help="The output of kafka-topics --describe.", exists=True)],
    brokers: Annotated[
        Path | None,
        typer.Option(help="kafka-broker-api-versions, ZooKeeper registrations or metadata bytes.", exists=True),
    ] = None,
    log_dirs: Annotated[Path | None, typer.Option(help="The output of kafka-log-dirs --describe.", exists=True)] = None,
    cluster: Annotated[str, typer.Option(help="The cluster's name.")] = "offline",
    features: Features = None,
    request: Annotated[
        Path | None,
        typer.Option(
            help="The JSON of POST /v1/plans/reassignment, without snapshot_id; instead of all options from here to "
            "--throttle.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    add_broker: Annotated[list[str] | None, typer.Option(help="id:rack, or id; repeatable.")] = None,
    remove_broker: Annotated[list[int] | None, typer.Option(help="An id; repeatable.")] = None,
    remove_rack: Annotated[
        list[str] | None, typer.Option(help="A rack all of whose brokers are removed; repeatable.")
    ] = None,
    replace_broker: Annotated[list[str] | None, typer.Option(help="old=new, two ids; repeatable.")] = None,
    forbid_broker: Annotated[
        list[int] | None, typer.Option(help="The id of a broker that receives no new replica; repeatable.")
    ] = None,
    replication_factor: Annotated[list[str] | None, typer.Option(help="topic=factor; repeatable.")] = None,
    partitions: Annotated[list[str] | None, typer.Option(help="topic=number, the new total; repeatable.")] = None,
    topic: Annotated[
        list[str] | None, typer.Option(help="A topic that may move; repeatable. Default: every topic.")
    ] = None,
    topics_to_move: Annotated[
        Path | None,
        typer.Option(help="Topics that may move: a --topics-to-move-json-file.", exists=True, dir_okay=False),
    ] = None,
    leaders_only: Annotated[bool, typer.Option("--leaders-only", help="Move no replica; balance the leaders.")] = False,
    fix_offline_replicas: Annotated[
        bool, typer.Option("--fix-offline-replicas", help="Empty brokers that are fenced or down.")
    ] = False,
    rack_mode: Annotated[str | None, typer.Option(help="enforced, safe or disabled.")] = None,
    balance: Annotated[str | None, typer.Option(help="Replicas: tight, keep, or a tolerance (0.05).")] = None,
    balance_by: Annotated[str | None, typer.Option(help="Balance replicas by count or bytes.")] = None,
    leaders: Annotated[str | None, typer.Option(help="Leaders: tight, keep, preferred, or a tolerance.")] = None,
    minimise: Annotated[str | None, typer.Option(help="The objective: bytes or replicas.")] = None,
    max_moved_bytes: Annotated[int | None, typer.Option(help="A budget in bytes: the best balance within it.")] = None,
    trade_off: Annotated[bool, typer.Option("--trade-off", help="Add a table of movement against balance.")] = False,
    merge_running: Annotated[
        bool, typer.Option("--merge-running", help="Treat a reassignment in progress as complete.")
    ] = False,
    relax: Annotated[
        bool,
        typer.Option("--relax", help="If infeasible, plan the nearest feasible change."),
    ] = False,
    max_moves_in_per_broker: Annotated[
        int | None, typer.Option(help="Replicas that a broker receives in one batch. Default: 4.")
    ] = None,
    kafka_version: KafkaVersion = None,
    throttle: Annotated[int | None, typer.Option(help="Bytes/s of every broker, for the duration of batches.")] = None,
    export: Annotated[str | None, typer.Option(help="Print this format instead of the plan's JSON.")] = None,
    batch: Annotated[int | None, typer.Option(help="For the format batch: its number, from 1.")] = None,
    inverse: Annotated[bool, typer.Option("--inverse", help="For the format batch: its rollback.")] = False,
    output: Annotated[Path | None, typer.Option(help="Write to this file.", dir_okay=False)] = None,
) -> None:
    """Change a cluster with the least movement; the JSON is that of POST /v1/plans/reassignment."""
    options = dict(locals())
    with _no_collections():
        from app.cli import plan_reassignment as reassigning  # noqa: PLC0415 — see the module's docstring
        from app.cli.offline import Texts  # noqa: PLC0415 — see the module's docstring

    options["topic"] = [*(topic or ()), *reassigning.topics_to_move(topics_to_move)]
    written = reassigning.reassign(
        reassigning.request_of(options, request),
        texts=Texts(brokers=brokers, topics=topics, log_dirs=log_dirs, features=features),
        cluster=cluster,
        output=reassigning.Output(export, batch, inverse),
    )
    hand_over(written, output)


@plan.command("group")
def plan_group(
    group: Annotated[str, typer.Argument(help="The group's id.")],
    groups: Annotated[
        Path, typer.Option(help="The output of kafka-consumer-groups --describe, or groups as JSON.", exists=True)
    ],
    topics: Annotated[Path, typer.Option(help="The output of kafka-topics --describe.", exists=True)],
    brokers: Annotated[
        Path | None,
        typer.Option(help="kafka-broker-api-versions, ZooKeeper registrations or metadata bytes.", exists=True),
    ] = None,
    cluster: Annotated[str, typer.Option(help="The cluster's name.")] = "offline",
    assignor: Annotated[
        list[str] | None,
        typer.Option(help="A name from docs/groups.md; repeatable. Default: the group's."),
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option(help="leave=MEMBER, lose_rack=RACK or rolling_restart; repeatable, in order."),
    ] = None,
    features: Features = None,
    kafka_version: KafkaVersion = None,
) -> None:
    """Predict the assignment of a group; the JSON is that of POST /v1/plans/group."""
    with _no_collections():
        from app.cli.offline import Texts  # noqa: PLC0415 — see the module's docstring
        from app.cli.plan_group import predict_group  # noqa: PLC0415 — see the module's docstring

    texts = Texts(brokers=brokers, topics=topics, groups=groups, features=features)
    written = predict_group(
        group,
        texts=texts,
        cluster=cluster,
        assignors=assignor or [],
        events=event or [],
        kafka_version=kafka_version,
    )
    hand_over(written, None)


@plan.command("keys")
def plan_keys(
    file: Annotated[Path, typer.Argument(help="One key a line; /dev/stdin reads a pipe.", exists=True, dir_okay=False)],
    partitions: Annotated[int, typer.Option(help="Number of partitions of the topic.", max=1_000_000)],
    partitioner: Annotated[
        list[str] | None, typer.Option(help="A name from docs/keys.md; repeatable. Default: murmur2.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="utf8, base64, int32 or int64.")] = "utf8",
    null_marker: Annotated[str | None, typer.Option(help="A line with this text is a record without key.")] = None,
    compare_partitions: Annotated[
        list[int] | None, typer.Option(help="Another partition count; repeatable.", max=1_000_000)
    ] = None,
    null_keys: Annotated[bool, typer.Option("--null-keys", help="Place records without key too.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the generator for records without key.", min=-(2**63), max=2**63 - 1)
    ] = None,
    available_partition: Annotated[
        list[int] | None, typer.Option(help="A partition that has a leader; repeatable. Default: all.")
    ] = None,
    queue_size: Annotated[
        list[int] | None,
        typer.Option(help="Queued batches of each available partition; repeatable.", min=0, max=2**31 - 1),
    ] = None,
    batch_bytes: Annotated[int | None, typer.Option(help="batch.size.", min=1, max=2**31 - 1)] = None,
    record_bytes: Annotated[
        int | None, typer.Option(help="Bytes of a record in its batch.", min=0, max=2**31 - 1)
    ] = None,
    kafka_version: KafkaVersion = None,
) -> None:
    """Find the partition of each key; the JSON is that of POST /v1/keys/partitions.

    Each option for records without key implies --null-keys.
    """
    with _no_collections():
        from app.cli.plan_keys import place_keys  # noqa: PLC0415 — see the module's docstring

    about_null_keys = {
        "seed": seed,
        "available_partitions": available_partition,
        "queue_sizes": queue_size,
        "batch_bytes": batch_bytes,
        "record_bytes": record_bytes,
    }
    stated = {name: value for name, value in about_null_keys.items() if value is not None}
    written = place_keys(
        file,
        partitions=partitions,
        partitioners=partitioner or ["murmur2"],
        encoding=encoding,
        null_marker=null_marker,
        compare_partitions=compare_partitions or [],
        null_keys=stated if null_keys or stated else None,
        kafka_version=kafka_version,
    )
    hand_over(written, None)
