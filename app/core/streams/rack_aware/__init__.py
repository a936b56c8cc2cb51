"""KIP-925: tasks change places so that fewer partitions are read across racks.

racks.py           whether it is on, and why not; what crosses racks where
optimum.py         active tasks by a flow over all clients, standbys by flows between two
graphs_kernel.py   the two graphs, `min_traffic` and `balance_subtopology`
cycles_kernel.py   the flow of least cost that Kafka's cancelling of cycles ends in
flow.py            an optimum of the same cost by an exact flow, in a fraction of the time
swaps_kernel.py    standbys, two clients at a time
"""
