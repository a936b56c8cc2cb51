"""`/v1/plans/group`: plans of consumer groups.

operation.py   the operation that plans
requests.py    its request model

Requests are imported from here, since they need no web framework. The other modules need one.
"""

from app.api.groups.requests import GroupTopicRequest, PlanGroupRequest
