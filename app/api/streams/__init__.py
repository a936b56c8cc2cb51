"""`/v1/plans/streams`: operation.py, its requests.py, with events.py, and documents.py."""

from app.api.streams.documents import StreamsPlanDocument
from app.api.streams.operation import router
from app.api.streams.requests import PlanStreamsRequest
