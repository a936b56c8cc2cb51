"""`/v1/plans/replicas`: plans of new topics and partitions.

operation.py   the operation that plans
requests.py    its request model

Requests are imported from here, since they need no web framework. The other modules need one.
"""

from app.api.replicas.requests import NewTopicRequest, PlaceRequest
