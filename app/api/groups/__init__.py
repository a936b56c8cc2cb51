"""`/v1/plans/group`: operation.py, its requests.py and documents.py."""

from app.api.groups.documents import GroupPlanDocument
from app.api.groups.operation import router
from app.api.groups.requests import AssignorName, GroupTopicRequest, PlanGroupRequest
