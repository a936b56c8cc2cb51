"""What is done and left of a plan at a later snapshot.

ledger.py         what the execution took, against what was predicted
run_log.py        the log of the execution
progress.py       the report
located.py        the plan's partitions in that snapshot, as arrays
drift.py          what something else has changed
log_dirs.py       steps that only choose log directories
resumed.py        the files that go on or back from there
"""
