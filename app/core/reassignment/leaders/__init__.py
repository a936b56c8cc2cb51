"""Preferred leaders: balanced, with the fewest leader changes, proven.

problem.py         the problem, the answer with two certificates, the verifier
choosing.py        the verb, and by count, exactly
by_ingress.py      by ingress, with lower bounds
answers.py         chosen leaders with their certificates
changes.py         costs of leader changes, and lower bounds on them
spreading.py       topics whose leaders are spread before those of others
minimums.py        minimum numbers of leaders of a topic, as nodes of the flow
per_topic.py       bands of topics, as nodes of the flow
weighted.py        bands in proportion to the weights of brokers
by_moves.py        replicas that move for the balance of leaders, with the fewest bytes
shares.py          leadership as a flow between brokers; shares_kernel.py its loops
repair_kernel.py   moves and swaps of whole leaderships after rounding
"""
