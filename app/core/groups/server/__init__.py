"""Assignors of the group coordinator (KIP-848, share groups). None of them uses racks as shipped.

range.py, uniform.py   one assignor each, over topics by id
simple.py              the share groups' assignor of Kafka 4.0
simple_hashed.py       the same of 4.1
simple_shared.py       the same since 4.2
uniform_kernel.py      loops of the uniform assignor for members with different subscriptions
group.py               a group in the order in which the coordinator visits members; hash codes and order of topic
                       ids, and the assignors over topics by name
share_group.py         assignable and owned partitions of a share group
"""
