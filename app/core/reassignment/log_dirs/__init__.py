"""Log directories of a broker (JBOD): which one each replica is in, with the fewest bytes moved between them.

model.py          the problem of one broker, and its answer; violations of any placement
placing.py        the verb: greedy placement, improved by an integer model, with lower bounds; lower bounds on the
                  largest share and on moved bytes
greedy.py         placement under a ceiling, and its local improvement
integer_model.py  exact placement of small brokers (CP-SAT), and the smallest set of replicas that cannot be packed
"""
