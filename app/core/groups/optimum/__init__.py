"""Optimal assignments of a group, with certificates.

optimal.py      balance by partitions, then reads in rack, then moves: exact; the flow network of the exact optimum
by_load.py      balance by lag or bytes/s: approximate, with a lower bound; by_load_kernel.py is its loop; the same
                for small groups, exactly
fair_shares.py  the fairest loads, by maximum flows
"""
