"""The files that Kafka's tools take.

reassignment.py         kafka-reassign-partitions --execute
reassignment_output.py  the same among what the tool prints
proposals.py            proposals of Cruise Control and topicmappr, as such a file
topics_to_move.py       kafka-reassign-partitions --generate
replica_assignment.py   kafka-topics --replica-assignment
leader_election.py      kafka-leader-election
topic_script.py         a script of kafka-topics commands
"""
