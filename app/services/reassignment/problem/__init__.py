"""The request and the cluster as one frozen problem, by position of brokers and by row of partitions.

resolve.py       makes the problem of a request; problem.py: the core's problem with names
brokers.py       current, added and removed brokers by position
scope.py         the partitions that may move, as rows; replicas that are in sync and live: they are kept before
                 others, and one of them leads
loads.py         bytes, rates and counts by row, now or in the future, and the objectives balanced by them; preferred
                 racks of leaders, minimums of topics on brokers
capacities.py    capacities of brokers, their upper limits, and their weights in the balance
broker_sets.py   the brokers of each set, its topics, and its share of the problem
resources.py     what partitions load on brokers (disk, NIC in and out, vCPU), and what is optimised over it
log_dirs.py      the disks of brokers, and the directory of each replica
domains.py       eligible brokers of each partition; the rack of each partition whose replicas are in one
conflicts.py     irreducible infeasible subsets of the request, in words
group_reads.py   the partitions that groups read, and the racks of their members; the groups that rebalance, and in
                 which batches
"""
