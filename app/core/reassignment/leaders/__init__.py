"""Which replica of each partition is its preferred leader: as even as asked, with the fewest leader changes, proven.

problem.py     what is asked, as arrays; which replicas may lead; what is answered
choosing.py    the way in: by count where every partition weighs 1, by ingress elsewhere
by_count.py    exact: the narrowest band, then the fewest changes within it; with `keep` the most even choice
by_ingress.py  a good choice, few changes, and how far both are from what is proven
shares.py      who leads how much of each partition, and the flows that pass it between brokers
shares_kernel.py  prices_kernel.py   the flows' loops: as much as passes, and at the least cost
repair_kernel.py  whole leaderships moved and swapped until the heaviest broker leads little more than it must
bound.py       what changes cost, and bounds on them that need no solver
verifier.py    whether an answer keeps what was asked, found without any solver
preferred.py   the leader first in its replica list; partitions that another one leads
"""
