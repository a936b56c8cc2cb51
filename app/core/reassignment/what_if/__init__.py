"""What if a broker were removed, or some added: reassignments of one cluster as the scenarios of a sweep.

standing.py  the cluster as it is, and what is tried on it
axes.py      which broker is removed and how many are added in which scenario
arrivals.py  the racks of the brokers that are added
change.py    a scenario as the problem that solvers are asked
scoring.py   scenarios start … stop − 1: what an executor runs
documents.py a cluster ⇄ the JSON that is kept with a sweep
"""
