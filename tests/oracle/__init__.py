"""An independent small model of reassignments, held beside the service on random small clusters.

The model is written from the documentation alone and imports nothing of `app.core`: it shares with the planner the JSON
of requests and answers. `make oracle` runs fresh instances; `test_oracle.py` runs the same ones each time, and
`test_units.py` and `test_equal_plans.py` hold plans to be the same. `test_scatter_width.py`, `test_groups.py` and
`test_restarts.py` have models of their own.

clusters.py     random snapshots, at most 8 brokers and 12 partitions
options.py      random requests: every kind of option of POST /v1/plans/reassignment
instances.py    an instance by its seed; the engine that a request is about
service.py      the service's answer, planned in this process
model.py        eligible brokers and racks of each partition
exact.py        the optimum of the model, by CP-SAT
changes.py      other instances that follow from one: renamed, planned, with fewer constraints
examined.py     an answer and its disagreements
examine.py      an answer held to every law
legality.py     laws of lists, live replicas and reported movement
batches.py      laws of batches and rollbacks
bounds.py       laws of certificates and of the least movement
loads.py        laws of loads: bands, limits, excess, goals
topics.py       the law of the balance of single topics
known_sets.py   the law of plans that open no replica set
traffic.py      the law of reads: bytes/s of brokers and between racks
weights.py      the law of bands in proportion to weights
leaders.py      laws of leaders
log_dirs.py     laws of log directories
repetitions.py  laws of two answers: determinism, names, idempotence, monotony
problems.py     laws of problems: feasible requests, irreducible conflicts
"""
