"""`/v1/plans/replicas`: operation.py and its requests.py.

Requests are imported from here: they need no web framework, as the other one does.
"""

from app.api.replicas.requests import NewTopicRequest, PlaceRequest
