"""Measures and checks of a group and of any assignment to it.

locality.py    partitions read in rack, loads of members, why racks are ignored; partitions that change members
               between two assignments
group_traffic.py  bytes/s of an assignment from rack to rack
sharing.py     share groups: partitions without a member, members per partition
violations.py  the verifier
findings.py    contradictions in a group's records, and known faults of Kafka's assignors
"""
