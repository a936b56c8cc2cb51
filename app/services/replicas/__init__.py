"""Place new topics and new partitions.

requests.py      the request record and its validation
planning.py      the problem, the planner; the title and summary in lists
answers.py       the answer: its declaration
awareness.py     exposure, unassigned replicas and warnings of a placement by attributes
differences.py   replicas and preferred leaders that a plan changes
exports.py       the plan as a file
"""

from app.services.plans import Kind
from app.services.replicas.differences import DiffSummary, difference
from app.services.replicas.exports import EXPORTS
from app.services.replicas.planning import PLANNER
from app.services.replicas.requests import KIND, ReplicasRequest, check

PLAN_KIND = Kind(planner=PLANNER, difference=difference, exports=EXPORTS, content="the replicas of partitions")
