"""Predict a consumer group.

requests.py      the request records
sources.py       a request to what an assignor works on
members.py       a member as each assignor reads it
recorded.py      a group as a snapshot recorded it
planning.py      the problem, the planner
predictions.py   the assignment of one assignor, until the members have handed over
comparison.py    several assignors on one group
cautions.py      warnings about a prediction
reports.py       predictions and events as JSON
readers.py       the members that read each partition, as the plan's rows
stored.py        the group of a stored plan
differences.py   partitions that pass from one member to another
exports.py       the plan as a file
"""

from app.services.groups.differences import ReaderChange, Reading, difference, reading_difference
from app.services.groups.exports import EXPORTS
from app.services.groups.members import ListedMember
from app.services.groups.planning import KIND, PLANNER
from app.services.groups.predictions import Prediction, predict, warm_up
from app.services.groups.readers import partition_json
from app.services.groups.recorded import missing_from, recorded_group, recorded_member
from app.services.groups.requests import Balance, GroupEvent, GroupRequest, GroupTopic, MemberRequest
from app.services.groups.sources import GroupSource, listed_metadata, metadata_of
