"""Progress of a plan at a later snapshot.

ledger.py         the execution against its prediction; the log of the execution
progress.py       the report; steps that only choose log directories; the files that go on or back from there
drift.py          changes by something else; the plan's partitions in that snapshot, as arrays
"""
