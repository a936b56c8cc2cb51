"""Plan a consumer group.

planning.py     a request to a plan that is kept: who reads what, what events do, how much better could be
requests.py     what can be asked, as records that a job keeps
sources.py      what was asked → what an assignor works on
members.py      a member as a request tells it, and as each assignor reads it
recorded.py     a group as a snapshot recorded it
predictions.py  what one assignor makes of a group
comparison.py   several assignors on one group
cautions.py     what the caller should know about that
reports.py      predictions and events → the plan's answer
readers.py      who reads each partition, as rows that are kept beside the answer
kept.py         the group that a kept plan is of, from its own request
differences.py  what passes from one member to another, between two plans or since what members owned
exports.py      who reads each partition, and where, as a file
"""
