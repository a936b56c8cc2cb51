"""Predict a consumer group.

requests.py      the request records
sources.py       from a request to the input of an assignor
members.py       a member as a request lists it or a snapshot recorded it, and as each assignor reads it; racks and
                 subscriptions that a request adds to recorded members
planning.py      the problem, the planner; the title and summary in lists; libraries whose own assignors decide
                 otherwise
predictions.py   the assignment of one assignor once partitions have changed hands, and warnings about it
traffic.py       bytes/s from rack to rack, the cost of changes, and pauses by events
answers.py       the answer: its declaration
reports.py       predictions, comparisons and events as its parts
stored.py        a stored plan: its rows, and its group
differences.py   partitions that pass from one member to another
exports.py       the plan as a file
"""

from app.services.groups.differences import ReaderChange, Reading, difference, reading_difference
from app.services.groups.exports import EXPORTS
from app.services.groups.members import missing_from, overridden, recorded_group, recorded_member, require_partitions
from app.services.groups.planning import KIND, PLANNER
from app.services.groups.requests import GroupEvent, GroupRequest, GroupTopic, MemberRequest
from app.services.groups.sources import listed_metadata, metadata_of
from app.services.plans import Kind

PLAN_KIND = Kind(
    planner=PLANNER, difference=difference, exports=EXPORTS, content="the readers of partitions, and moves no replica"
)
