"""Groups: what the tools print and what members send.

consumer_groups.py      kafka-consumer-groups --describe, --members --verbose, --state
share_groups.py         kafka-share-groups, the same
streams_groups.py       kafka-streams-groups, the same: tasks, processes, epochs
group_tables.py         the tables of any of them; group_cells.py: their cells
older_tables.py         tables of Kafka 0.9 to 2.2 and of rpk, as newer ones
described_groups.py     an admin call's answer, decoded to JSON
group_answers.py        answers of KafkaJS, rpk, Confluent's REST API and Burrow
group_texts.py          all of them, one after another in one text; which of these tables a line is the header of
recorded_groups.py      groups out of them; recorded_json.py: as they are stored in a snapshot
contradictions.py       what the texts say of one group that cannot be true together
consumer_protocol.py    subscriptions and assignments as members send them
assignor_user_data.py   what sticky members add to them
"""
