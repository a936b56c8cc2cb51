"""Plan a consumer group.

planning.py     a request to a plan that is kept: who reads what, what events do, how much better could be
requests.py     what can be asked, as records that a job keeps
sources.py      what was asked or recorded → members and metadata of the core
predictions.py  what one assignor makes of a group
cautions.py     what the caller should know about that
reports.py      predictions and events → the plan's answer
readers.py      who reads each partition, as rows that are kept beside the answer
"""
