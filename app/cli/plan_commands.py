"""`rackplan plan …`: what each command takes.

What a command needs is imported when it runs, so that `rackplan --help` answers at once.
"""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import hand_over

plan = typer.Typer(help="Plans made here, without a service.", no_args_is_help=True)


@plan.command("replicas")
def plan_replicas(
    topic: Annotated[
        list[str], typer.Option(help="name:partitions:replication_factor[:start_partition_id]; repeatable.")
    ],
    brokers: Annotated[
        Path | None,
        typer.Option(help="kafka-broker-api-versions, ZooKeeper registrations or metadata bytes.", exists=True),
    ] = None,
    topics: Annotated[Path | None, typer.Option(help="What kafka-topics --describe printed.", exists=True)] = None,
    log_dirs: Annotated[Path | None, typer.Option(help="What kafka-log-dirs --describe printed.", exists=True)] = None,
    cluster: Annotated[str, typer.Option(help="The cluster's name.")] = "offline",
    algorithm: Annotated[str, typer.Option(help="admin_utils, striped or awareness.")] = "admin_utils",
    rack_mode: Annotated[str | None, typer.Option(help="enforced, safe or disabled.")] = None,
    fixed_start_index: Annotated[int | None, typer.Option(help="Where admin_utils starts.", min=0)] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the generator.")] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="Of awareness: spread, forced, hdfs, redis or kafka. Default: spread, over racks."),
    ] = None,
    forced: Annotated[
        list[str] | None, typer.Option(help="Of the policy forced: a rack that there is meant to be; repeatable.")
    ] = None,
    export: Annotated[str | None, typer.Option(help="Print this format instead of the plan's JSON.")] = None,
) -> None:
    """Place topics from files, without a service: the same core, the same JSON."""
    from app.cli import offline  # noqa: PLC0415 — see the module's docstring

    written = offline.place(
        topic,
        texts=offline.Texts(brokers=brokers, topics=topics, log_dirs=log_dirs),
        cluster=cluster,
        choices=offline.Choices(algorithm, rack_mode, fixed_start_index, seed, policy, forced or ()),
        export=export,
    )
    hand_over(written, None)


@plan.command("reassignment")
def plan_reassignment(
    topics: Annotated[Path, typer.Option(help="What kafka-topics --describe printed.", exists=True)],
    brokers: Annotated[
        Path | None,
        typer.Option(help="kafka-broker-api-versions, ZooKeeper registrations or metadata bytes.", exists=True),
    ] = None,
    log_dirs: Annotated[Path | None, typer.Option(help="What kafka-log-dirs --describe printed.", exists=True)] = None,
    cluster: Annotated[str, typer.Option(help="The cluster's name.")] = "offline",
    request: Annotated[
        Path | None,
        typer.Option(
            help="The JSON that POST /v1/plans/reassignment takes, without snapshot_id; instead of all options from "
            "here to --throttle.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    add_broker: Annotated[list[str] | None, typer.Option(help="id:rack, or an id without; repeatable.")] = None,
    remove_broker: Annotated[list[int] | None, typer.Option(help="An id; repeatable.")] = None,
    replace_broker: Annotated[list[str] | None, typer.Option(help="old=new, two ids; repeatable.")] = None,
    forbid_broker: Annotated[
        list[int] | None, typer.Option(help="The id of one that gets nothing new; repeatable.")
    ] = None,
    replication_factor: Annotated[list[str] | None, typer.Option(help="topic=factor; repeatable.")] = None,
    partitions: Annotated[
        list[str] | None, typer.Option(help="topic=number, how many it is to have in all; repeatable.")
    ] = None,
    topic: Annotated[list[str] | None, typer.Option(help="What may move; repeatable. Default: every topic.")] = None,
    topics_to_move: Annotated[
        Path | None,
        typer.Option(help="More of these, from a --topics-to-move-json-file of Kafka.", exists=True, dir_okay=False),
    ] = None,
    leaders_only: Annotated[bool, typer.Option("--leaders-only", help="Move no replica; make leaders even.")] = False,
    fix_offline_replicas: Annotated[
        bool, typer.Option("--fix-offline-replicas", help="Leave nothing on brokers that are fenced or down.")
    ] = False,
    rack_mode: Annotated[str | None, typer.Option(help="enforced, safe or disabled.")] = None,
    balance: Annotated[str | None, typer.Option(help="Of replicas: tight, keep, or a tolerance such as 0.05.")] = None,
    balance_by: Annotated[str | None, typer.Option(help="count or bytes.")] = None,
    leaders: Annotated[str | None, typer.Option(help="tight, keep, preferred, or a tolerance such as 0.05.")] = None,
    minimise: Annotated[str | None, typer.Option(help="bytes or replicas.")] = None,
    max_moved_bytes: Annotated[int | None, typer.Option(help="A budget: the best balance that it pays for.")] = None,
    trade_off: Annotated[bool, typer.Option("--trade-off", help="Add a table of movement against balance.")] = False,
    merge_running: Annotated[
        bool, typer.Option("--merge-running", help="Partitions that are on their way already are where they go.")
    ] = False,
    relax: Annotated[
        bool, typer.Option("--relax", help="Where not all can be had: the nearest, and what was given up.")
    ] = False,
    max_moves_in_per_broker: Annotated[
        int | None, typer.Option(help="Replicas that a broker takes in one batch. Default: 4.")
    ] = None,
    throttle: Annotated[int | None, typer.Option(help="Bytes a second of every broker: how long batches take.")] = None,
    export: Annotated[str | None, typer.Option(help="Print this format instead of the plan's JSON.")] = None,
    batch: Annotated[int | None, typer.Option(help="Of the format batch: which one, from 1 on.")] = None,
    inverse: Annotated[
        bool, typer.Option("--inverse", help="Of the format batch: what brings back what was there before.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write to this file.", dir_okay=False)] = None,
) -> None:
    """Change a cluster with the least movement, from files and without a service: the same core, the same JSON."""
    from app.cli import offline, reassigning  # noqa: PLC0415 — see the module's docstring

    changes = reassigning.Changes(
        add_broker=add_broker or (),
        remove_broker=remove_broker or (),
        replace_broker=replace_broker or (),
        forbid_broker=forbid_broker or (),
        replication_factor=replication_factor or (),
        partitions=partitions or (),
        topic=[*(topic or ()), *reassigning.topics_to_move(topics_to_move)],
        leaders_only=leaders_only,
        fix_offline_replicas=fix_offline_replicas,
        rack_mode=rack_mode,
        balance=balance,
        balance_by=balance_by,
        leaders=leaders,
        minimise=minimise,
        max_moved_bytes=max_moved_bytes,
        trade_off=trade_off,
        merge_running=merge_running,
        relax=relax,
        max_moves_in_per_broker=max_moves_in_per_broker,
        throttle=throttle,
    )
    written = reassigning.reassign(
        reassigning.asked(changes, request),
        texts=offline.Texts(brokers=brokers, topics=topics, log_dirs=log_dirs),
        cluster=cluster,
        handed=reassigning.Handed(export, batch, inverse),
    )
    hand_over(written, output)


@plan.command("group")
def plan_group(
    group: Annotated[str, typer.Argument(help="The group's id.")],
    groups: Annotated[
        Path, typer.Option(help="What kafka-consumer-groups --describe printed, or groups as JSON.", exists=True)
    ],
    topics: Annotated[Path, typer.Option(help="What kafka-topics --describe printed.", exists=True)],
    brokers: Annotated[
        Path | None,
        typer.Option(help="kafka-broker-api-versions, ZooKeeper registrations or metadata bytes.", exists=True),
    ] = None,
    cluster: Annotated[str, typer.Option(help="The cluster's name.")] = "offline",
    assignor: Annotated[
        list[str] | None, typer.Option(help="As docs/groups.md lists them; of several the first. Default: the group's.")
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option(help="leave=MEMBER, lose_rack=RACK or rolling_restart; repeatable, in order."),
    ] = None,
) -> None:
    """Predict a recorded group from files, without a service: the same core, the same JSON."""
    from app.cli import offline  # noqa: PLC0415 — see the module's docstring

    texts = offline.Texts(brokers=brokers, topics=topics, groups=groups)
    written = offline.predict_group(group, texts=texts, cluster=cluster, assignors=assignor or [], events=event or [])
    hand_over(written, None)


@plan.command("keys")
def plan_keys(
    file: Annotated[Path, typer.Argument(help="A key a line; /dev/stdin reads a pipe.", exists=True, dir_okay=False)],
    partitions: Annotated[int, typer.Option(help="How many the topic has.", max=1_000_000)],
    partitioner: Annotated[
        list[str] | None, typer.Option(help="A name as docs/keys.md lists them; repeatable. Default: murmur2.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="utf8, base64, int32 or int64.")] = "utf8",
    null_marker: Annotated[
        str | None, typer.Option(help="A line that says this is a record without key, as the console producer's.")
    ] = None,
    compare_partitions: Annotated[
        list[int] | None, typer.Option(help="Another partition count; repeatable.", max=1_000_000)
    ] = None,
    null_keys: Annotated[bool, typer.Option("--null-keys", help="Place records without key too.")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of their generator.", min=-(2**63), max=2**63 - 1)] = None,
    available_partition: Annotated[
        list[int] | None, typer.Option(help="A partition that has a leader; repeatable. Default: all.")
    ] = None,
    queue_size: Annotated[
        list[int] | None,
        typer.Option(help="Batches that wait for each available partition; repeatable.", min=0, max=2**31 - 1),
    ] = None,
    batch_bytes: Annotated[int | None, typer.Option(help="batch.size.", min=1, max=2**31 - 1)] = None,
    record_bytes: Annotated[
        int | None, typer.Option(help="What a record takes of its batch.", min=0, max=2**31 - 1)
    ] = None,
) -> None:
    """Say which partition each key of a file goes to, without a service: the same core, the same JSON.

    Every option about records without key implies --null-keys.
    """
    from app.cli import offline  # noqa: PLC0415 — see the module's docstring

    about_null_keys = {
        "seed": seed,
        "available_partitions": available_partition,
        "queue_sizes": queue_size,
        "batch_bytes": batch_bytes,
        "record_bytes": record_bytes,
    }
    said = {name: value for name, value in about_null_keys.items() if value is not None}
    written = offline.place_keys(
        file,
        partitions=partitions,
        partitioners=partitioner or ["murmur2"],
        encoding=encoding,
        null_marker=null_marker,
        compare_partitions=compare_partitions or [],
        null_keys=said if null_keys or said else None,
    )
    hand_over(written, None)
