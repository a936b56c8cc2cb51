"""What every plan reports about an assignment, whichever planner made it.

tally.py         one pass over the replicas: counts per broker and rack, and the violations of each partition
placement.py     the measures: leaders and replicas per broker, racks per partition, exposure to a loss
attributes.py    exposure to the loss of each value of any attribute
transfers.py     what a reassignment moves: per broker, from broker to broker, partition by partition
health.py        a cluster as it is: what is unavailable, fragile or unbalanced, in a few numbers
partition_table.py  all partitions of a cluster as one table, and its brokers' loads after a loss
losses.py        the effect of the loss of each broker or rack
violations.py    the verifier: every way in which an assignment is illegal or fragile
"""
