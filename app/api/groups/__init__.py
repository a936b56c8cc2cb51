"""`/v1/plans/group`: operation.py, its requests.py and documents.py.

Requests are imported from here: they need no web framework, as the other two do.
"""

from app.api.groups.requests import AssignorName, GroupTopicRequest, PlanGroupRequest
