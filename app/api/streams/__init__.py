"""`/v1/plans/streams`: operation.py, its requests.py, with events.py, and documents.py,
with task_documents.py.

Requests are imported from here: they need no web framework, as the other two do.
"""

from app.api.streams.requests import PlanStreamsRequest
