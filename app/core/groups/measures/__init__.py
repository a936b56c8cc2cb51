"""What is said of any assignment, whoever made it.

locality.py      what is read in its own rack, and how even the loads are
handover.py      what changes hands between two assignments
violations.py    the verifier: every way in which an assignment is illegal or needlessly uneven
known_faults.py  what a prediction repeats of Kafka's faults, and a plan names
"""
