"""Brokers, topics and log directories: what the tools print, what brokers register and answer.

topic_describe.py       kafka-topics --describe; topic_rows.py: its rows; partition_tables.py: tables as such rows
log_dirs.py             kafka-log-dirs --describe; the log directory of each replica of a cluster
stated_configs.py       kafka-configs --describe: configurations of topics, cordoned log directories
broker_features.py      kafka-features describe, log lines: the release of Kafka; KRaft or ZooKeeper, by any of these
ingress_rates.py        bytes in by topic or partition: CSV, Prometheus
broker_lists.py         the brokers of a cluster, from any of the following
broker_api_versions.py  kafka-broker-api-versions, kafka-cluster, clients of Java: the brokers with their racks
broker_registration.py  a registration in ZooKeeper, JSON, versions 1–5
update_metadata.py      the UpdateMetadata request
topic_metadata.py       the TopicMetadata response
"""
