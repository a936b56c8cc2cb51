"""Forms that plan.

requests.py     `/plan` and `/plan/{kind}`: a request as a form, and the same as curl, Python and JSON
reassignment.py the fields of a change of a cluster, and the request that they make
constraints.py  its fields of limits, goals, sets of brokers and log directories; fields.py reads values
members.py      members of a group from what Kafka's tools print
keys.py         `/plan/keys`: keys and the partition of each, which are not stored
check.py        `/plan/check`: a reassignment or a cluster is checked, and nothing stored
short.py        forms of few fields: a new topic, a group, a Streams application, restarts
"""
