"""Optimal assignments of a group, with certificates.

optimal.py      balance by partitions, then reads in rack, then moves: exact
by_load.py      balance by lag or bytes/s: approximate, with a lower bound; by_load_kernel.py is its loop
exact_loads.py  the same for small groups, exactly
sharing.py      share groups: the smallest largest load and its spread
fair_shares.py  the fairest loads, by maximum flows
network.py      the flow network of the exact optimum
"""
