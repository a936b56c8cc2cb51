"""Partitions, members and racks of a group as arrays, so that millions of partitions are few objects.

partition_table.py  partitions as rows, assignments as arrays over rows, weights
owned.py            partitions that members own
subscriptions.py    distinct subscriptions, their classes, the orders in which members are visited
racks.py            the rack table: racks of members, brokers and replicas as numbers
"""
