"""`/v1/plans/reassignment`: plans, their progress and their differences.

operation.py   the operation that plans; progress.py: the progress of a stored plan
documents.py   the answer, with its balance, loads and log directories
diff_documents.py  the difference of a plan from another plan or from a snapshot
"""
