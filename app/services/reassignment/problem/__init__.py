"""The request and the cluster as one frozen problem, by position of brokers and by row of partitions.

resolve.py       makes the problem of a request; problem.py: the core's problem with names, and an
                 irreducible infeasible subset of the options of a request, in words
brokers.py       current, added and removed brokers by position
scope.py         the partitions that may move, as rows; replicas that are in sync and live: they are kept before
                 others, and one of them leads
loads.py         bytes, rates and counts by row, now or in the future, and the objectives balanced by them; preferred
                 racks of leaders, minimums of topics on brokers
objectives.py    limits of brokers, their weights in the balance, and goals over resources
broker_sets.py   the brokers of each set, its topics, and its share of the problem
resources.py     loads of partitions on brokers (disk, NIC in and out, vCPU), and the capacities of brokers; the
                 partitions that groups read from the racks of their members, and the groups that rebalance
log_dirs.py      the disks of brokers, and the directory of each replica
domains.py       eligible brokers of each partition; the rack of each partition whose replicas are in one
"""
