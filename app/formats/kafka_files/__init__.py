"""The files that Kafka's tools take.

reassignment.py         kafka-reassign-partitions --execute; kafka-topics --replica-assignment; kafka-leader-election;
                        kafka-reassign-partitions --generate
reassignment_output.py  the same in the tool's output; proposals of Cruise Control and topicmappr, as such a file
topic_script.py         a script of kafka-topics commands
"""
