"""`/v1/plans/streams`: plans of Kafka Streams applications.

operation.py   the operation that plans
requests.py    its request model, with events

Requests are imported from here, since they need no web framework. The other modules need one.
"""

from app.api.streams.requests import PlanStreamsRequest
