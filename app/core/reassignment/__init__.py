"""Reassignment: replicas and leaders moved as little as possible, with the proof, in batches that Kafka executes.

`plan.py` has the verb, `plan(problem)`, and its verifier.

plan.py           the verb `plan`, the plan, `verify`, what a plan copies and removes; its batches and cordons
problem.py        the problem of `plan`, as arrays: what moves where, what is balanced, and within which limits;
                  constraints of the problem that conflict; the log directories of all brokers
stages/           the stages of `plan`: place, lead, choose log directories
model.py          the movement of replicas as a problem, the balance and the placement; the replica sets of a cluster,
                  and the lists that are on others
resource_problem.py   several resources: loads, limits, goals, and the placement that answers them; loads of a placement
                      by resource, ideal loads by capacity
rules.py          constraints and costs of a problem, as the arrays that compiled loops take; regions of brokers
legal_sets_kernel.py   the cheapest legal set of brokers of a partition; the placement with the fewest moves
domains.py        eligible brokers of each partition, and its spread over racks
verifier.py       violations of a placement, whichever solver made it
parts.py          parts without common partitions and brokers, each with its own band and proof
topic_name_hash.py   the broker set of a topic by its name
plan_minimum.py   the least movement for the end of a given plan
goals/            loads: balance, limits, relief, goals in order of priority, each by its solvers with its bounds
solvers/          flows, leaders, local search, integer models
bounds/           lower bounds of loads and of the movement
log_dirs/         log directories of a broker's replicas: balanced, drained, with the fewest bytes moved
batches/          the reassignment in batches within limits, each with its inverse
completion.py     reassignments that Kafka never completes, by release
progress.py       which steps of a plan are done, by where the replicas are later
"""
