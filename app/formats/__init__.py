"""Kafka's own texts and bytes ⇄ the core's model. One format a file, which reads it and writes it.

What the tools print:

    topic_describe.py       kafka-topics --describe
    broker_api_versions.py  kafka-broker-api-versions: the brokers, and the one place where a tool prints racks
    log_dirs.py             kafka-log-dirs --describe
    pasted.py               several of them in one text
    assembly.py             a cluster out of those, and of what is told of its groups

What the tools take, too:

    reassignment.py  topics_to_move.py  replica_assignment.py  leader_election.py

What brokers say of themselves:

    broker_registration.py  ZooKeeper's JSON, versions 1–5
    broker_binary.py        UpdateMetadata's broker lists
    topic_metadata.py       TopicMetadataResponse's broker lists

What groups say of themselves:

    consumer_groups.py      kafka-consumer-groups --describe, --members --verbose, --state
    described_groups.py     an admin call's answer, decoded to JSON
    group_texts.py          both, one after another in one text
    recorded_groups.py      groups out of them
    consumer_protocol.py    subscriptions and assignments as members send them
    assignor_user_data.py   what sticky members add to them

What monitoring hands out:

    ingress_rates.py        bytes in by topic or partition: CSV, Prometheus

What Streams applications say of themselves:

    streams_subscription.py SubscriptionInfo, versions 1–11: what a member ran, how far its state reaches, client tags
    streams_assignment.py   AssignmentInfo, versions 1–11: what a member is given, and where others have what
    topology_text.py        Topology#describe(); topology.py: its topics, stores and tasks

Ours:

    snapshot_json.py        a cluster as the canonical document that is stored and hashed; recorded_json.py: its groups
    placement_tables.py     a placement as CSV, Markdown and Arrow
    reassignment_diffs.py   what a reassignment changes, as text and Markdown: per broker, from where to where
    reassignment_tables.py  the partitions that it changes, as CSV and Arrow
    scenario_tables.py      scored scenarios as CSV, Parquet and Arrow
    reader_tables.py        who reads each partition of a group, in the same; topic_tables.py: what both are made of
    task_tables.py          who has each task of a Streams application, as CSV and Markdown

What readers and writers share: lines.py (texts), split_text.py (several in one), group_tables.py and group_cells.py
(tables), quantities.py (counts and bytes in words), documents.py (JSON), wire.py (bytes), generated_bytes.py (bytes as
lenient as Kafka's own), data_streams.py (Java's), row_text.py (many rows at once).
Every reader answers what it cannot read with `MalformedText`: the line or byte, what was expected, what was found.
"""
