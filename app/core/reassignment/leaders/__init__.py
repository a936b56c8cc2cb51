"""Which replica of each partition is its preferred leader: as even as asked, with the fewest leader changes, proven.

problem.py     what is asked, as arrays; which replicas may lead; what is answered
choosing.py    the way in
by_count.py    exact: the narrowest band, then the fewest changes within it; with `keep` the most even choice
shares.py      who leads how much of each partition, and the flows that pass it between brokers
shares_kernel.py  prices_kernel.py   the flows' loops: as much as passes, and at the least cost
bound.py       the bound on changes, from the brokers' prices alone
"""
