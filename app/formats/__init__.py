"""Kafka's own texts and bytes ⇄ the core's model. One format a file, which reads it and writes it.

Output of the tools:

    topic_describe.py       kafka-topics --describe; topic_rows.py: its rows
    broker_api_versions.py  kafka-broker-api-versions and kafka-cluster api-versions: the brokers with their racks
    cluster_endpoints.py    kafka-cluster list-endpoints: the same as a table
    log_dirs.py             kafka-log-dirs --describe
    replica_log_dirs.py     the log directory of each replica of a cluster
    broker_configs.py       kafka-configs --describe: cordoned log directories
    broker_features.py      kafka-features describe, log lines: the release of Kafka
    controllers.py          KRaft or ZooKeeper, by any of these
    pasted.py               several of them in one text
    assembly.py             a cluster from those, and from the description of its groups

Output of other tools (sources.py lists them; contents.py is what they say, and joins it):

    kcat.py                 kcat -L, as text and as JSON
    rpk.py                  rpk cluster info, rpk topic describe
    msk_nodes.py            aws kafka list-nodes
    metadata_quorum.py      kafka-metadata-quorum describe
    reassignment_list.py    kafka-reassign-partitions --list
    strimzi.py              Kafka, KafkaNodePool, KafkaTopic, pods and nodes in YAML
    cruise_control.py       kafka_cluster_state, load and partition_load
    prometheus.py           sizes and rates by the HTTP API
    web_interfaces.py       AKHQ and kafka-ui

Input of the tools:

    reassignment.py  reassignment_output.py  topics_to_move.py  replica_assignment.py  leader_election.py

Brokers:

    broker_lists.py         the brokers of a cluster, from any of the following
    broker_registration.py  a registration in ZooKeeper, JSON, versions 1–5
    update_metadata.py      the UpdateMetadata request; broker_binary.py: its list of brokers
    topic_metadata.py       the TopicMetadata response

Consumer groups:

    consumer_groups.py      kafka-consumer-groups --describe, --members --verbose, --state
    share_groups.py         kafka-share-groups, the same
    streams_groups.py       kafka-streams-groups, the same: tasks, processes, epochs
    group_headers.py        which of these tables a line is the header of; group_forms.py: rows as records
    described_groups.py     an admin call's answer, decoded to JSON
    group_texts.py          both, one after another in one text
    recorded_groups.py      groups out of them
    consumer_protocol.py    subscriptions and assignments as members send them
    assignor_user_data.py   what sticky members add to them

Monitoring:

    ingress_rates.py        bytes in by topic or partition: CSV, Prometheus

Streams applications:

    streams_subscription.py SubscriptionInfo, versions 1–11: previous tasks, offsets of their state, client tags
    streams_assignment.py   AssignmentInfo, versions 1–11: a member's tasks, and the partitions of other hosts
    topology_text.py        Topology#describe(); topology.py: its topics and stores

Formats of this service:

    snapshot_json.py        a cluster as the canonical document that is stored and hashed; recorded_json.py: its groups
    placement_tables.py     a placement as CSV, Markdown and Arrow
    reassignment_diffs.py   the changes of a reassignment as text and Markdown, with the transfers between brokers
    reassignment_tables.py  the partitions that it changes, as CSV and Arrow
    scenario_tables.py      scored scenarios as CSV, Parquet and Arrow
    reader_tables.py        the member that each partition of a group is assigned to, in the same formats
    topic_tables.py         the columns of both tables
    task_tables.py          the clients of each task of a Streams application, as CSV and Markdown

Bytes as JSON: decoding.py prints any format of wire_formats.py, given as byte_encodings.py reads it.

Shared by readers and writers: lines.py (texts), split_text.py (several in one), group_tables.py and group_cells.py
(tables), quantities.py (counts and bytes in words), documents.py (JSON), wire.py (bytes), generated_bytes.py (bytes as
lenient as Kafka's own), data_streams.py (Java's), row_text.py (many rows at once).
Every reader raises `MalformedText` for what it cannot read: the line or byte, what was expected and what was found.
"""
