"""Kafka Streams.

streams_subscription.py  SubscriptionInfo, versions 1–11: previous tasks, offsets of their state, client tags
streams_assignment.py    AssignmentInfo, versions 1–11: a member's tasks, and the partitions of other hosts
topology_text.py         Topology#describe(): subtopologies with their topics and stores
"""
