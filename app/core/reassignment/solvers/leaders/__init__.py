"""Preferred leaders: balanced, with the fewest leader changes, proven.

problem.py         the problem, the answer with two certificates, the verifier; costs of leader changes, and lower
                   bounds on them; chosen leaders with their certificates
choosing.py        the verb, and by count, exactly; by ingress, with lower bounds; bands in proportion to the weights
                   of brokers
per_topic.py       bands of topics, as nodes of the flow
by_moves.py        replicas that move for the balance of leaders, with the fewest bytes
paths.py           leaders within bounds at the least cost, by shortest paths; paths_kernel.py its loops
shares.py          leadership as a flow between brokers; shares_kernel.py its loops; minimum numbers of leaders of a
                   topic, as nodes of the flow
prices.py          leaders at dual prices of loads, and the bound on changes that they prove; prices_kernel.py its loops
repair_kernel.py   moves and swaps of whole leaderships after rounding
"""
