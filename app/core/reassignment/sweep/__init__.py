"""Sweeps over reassignments of one cluster: each change of brokers and each limit as a problem, with its figures.

scenarios.py   the scenarios of a definition, and the figures of each
placing.py     the replicas of a scenario, verified
definition.py  the cluster as it is, the axes, and the change that each scenario makes
objective.py   limits and goals of all scenarios, and what excludes each other
sets.py        broker sets, as stated and as axes
weights.py     weights of brokers as axes
loads.py       what partitions load on brokers; limits as stated and as axes
"""

from app.core.reassignment.sweep.scenarios import NUMBERS, ReassignmentSweep, problem_of, rack_indices, read_sweep
