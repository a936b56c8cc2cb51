"""`/v1/plans/reassignment`: operation.py, its requests.py and documents.py."""

from app.api.reassignment.documents import ReassignmentPlanDocument
from app.api.reassignment.operation import router
from app.api.reassignment.requests import BatchFields, EvenReplicas, PlanReassignmentRequest
