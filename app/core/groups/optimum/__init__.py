"""The best a group could have, and its proof.

optimal.py   balanced by partitions, then read in rack, then moved least: exact, with its certificate
by_load.py   balanced by lag or bytes/s, with a bound on the best
fair_shares.py  network.py   how the exact one is found, beside `app.core.flow`
"""
