"""Output of other tools. sources.py lists them; contents.py is what they say, and joins it.

kcat.py                 kcat -L as text
rpk.py                  rpk cluster info, rpk topic describe
zookeeper_topics.py     nodes of topics and of the states of partitions
msk_nodes.py            aws kafka list-nodes, also in YAML
metadata_quorum.py      kafka-metadata-quorum describe
reassignment_list.py    kafka-reassign-partitions --list
rebalances.py           Strimzi's KafkaRebalance as a request
deciders.py             what decides in place of Kafka's own code, or undoes a plan
strimzi.py              Kafka, KafkaNodePool, KafkaTopic, pods and nodes in YAML
desired_topics.py       topics as they are to be: KafkaTopic and topicctl, in YAML
cruise_control.py       kafka_cluster_state, load and partition_load; capacity.json
broker_sets.py          broker sets of Cruise Control
prometheus.py           sizes and rates by the HTTP API
client_answers.py       JSON of clients, kcat, rpk, MSK, AKHQ, kafka-ui and Confluent's REST API
"""
