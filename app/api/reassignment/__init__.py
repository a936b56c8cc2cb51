"""`/v1/plans/reassignment`: operation.py, its requests.py and documents.py, with
balance_documents.py; progress.py of a stored one.

Requests are imported from here: they need no web framework, as the other two do.
"""

from app.api.reassignment.requests import BatchFields, PlanReassignmentRequest
