"""Plan a reassignment.

planning.py   a request to a plan that is kept: the least movement, who leads then, the steps there
requests.py   what can be asked, as records that a job keeps; checking.py: what is wrong with that by itself
brokers.py    who of the brokers is there, comes and goes
scope.py      the partitions that may move, as rows
sizes.py      what partitions weigh: bytes, and what flows through them
domains.py    where each partition may be; conflicts.py: why it cannot be anywhere, in words
sources.py    all that together, as what the solvers are asked
placing.py    where the replicas shall be
leading.py    which of them lead
batching.py   the way there in batches
movement.py   what each broker gives and takes
soundness.py  no plan goes out that its own verifiers fault
reports.py    what was found → the plan's answer
comparison.py   what a plan moves, against the cluster as it was
differences.py  the same as `/diff` pages through it
exports.py      the plan as files
bundles.py      all that an operator executes, in one archive
packing.py    every step of every batch, as the answer keeps it; kept.py: as read again
rows.py       a plan's rows as JSON
"""
