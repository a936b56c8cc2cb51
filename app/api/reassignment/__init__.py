"""`/v1/plans/reassignment`: plans, their progress and their differences.

operation.py   the operation that plans; progress.py: the progress of a stored plan
comparison.py  a stored plan beside a reassignment of another origin
"""
