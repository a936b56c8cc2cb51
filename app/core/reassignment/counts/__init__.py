"""Replicas balanced by their number: the least movement there is, exact, with its proof.

least_movement.py   the verb
within_band.py      with counts in a band: a flow of ever more partitions, until none would rather move
receivers.py        with `keep`: only what must move, to the receivers that leave the fairest counts
trade_off.py        what evenness costs, and the best that a budget pays for
narrowest.py        the narrowest band there is
network.py          the flow's network, and back
offers.py           which receivers are arcs of their own, where they are too many
places.py           where partitions are, counted, costed, put in order
pricing.py          each partition's cheapest place under prices: the proof, without the solver
"""
