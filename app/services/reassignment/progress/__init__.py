"""What is done and left of a plan at a later snapshot.

ledger.py         what the execution took, against what was predicted; the log of the execution
progress.py       the report; steps that only choose log directories; the files that go on or back from there
drift.py          what something else has changed; the plan's partitions in that snapshot, as arrays
"""
