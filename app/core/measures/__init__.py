"""Measures of an assignment, the same in every plan, whichever planner made it.

tally.py         counts per broker and rack, and the violations of each partition; tally_kernel.py has its loop
placement.py     the measures: leaders and replicas per broker, racks per partition, exposure to a loss; exposure to
                 the loss of each value of any attribute
movement.py      differences of two assignments: replicas that move, preferred leaders that change
transfers.py     bytes moved by broker, between brokers and by partition; transfers_kernel.py has its loop
traffic.py       the racks between which consumers read each partition
health.py        the current state of a cluster: numbers of unavailable, fragile or unbalanced partitions
partition_table.py  all partitions of a cluster as one table, its brokers' loads after a loss, and the cost of the
                 loss of each log directory
losses.py        the cost of the loss of each rack, broker and pair of brokers; losses_kernel.py has its loops;
                 replication factors that a reassignment lowers so far that availability suffers
copysets.py      the distinct replica sets, and the odds that simultaneous losses contain one
violations.py    the verifier: every way in which an assignment is illegal or fragile
"""
