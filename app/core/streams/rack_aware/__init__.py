"""KIP-925: rack-aware optimisation of task assignments.

racks.py           whether it is on, why it is off, and the partitions that each client would read across racks
optimum.py         active tasks by a flow over all clients, standbys by swaps between pairs; an optimum of the same
                   cost by an exact flow solver, in a fraction of the time
graphs_kernel.py   the two graphs, `min_traffic` and `balance_subtopology`
cycles_kernel.py   Kafka's minimum-cost flow by cycle cancelling
swaps_kernel.py    standbys, two clients at a time
"""
