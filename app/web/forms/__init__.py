"""Forms that plan.

requests.py     `/plan` and `/plan/{kind}`: a request as a form, and the same as curl, Python and JSON
short.py        the fields of each form as parts of a request, and back; fields.json lists them
codecs.py       how a part of a request is written in a field, by the names in fields.json; values.py has numbers and
                lines, series.py tables of rates, and fields.py reads forms
suggestions.py  choices of fields, from the newest snapshot of a cluster and one of its groups
members.py      members of a group from the output of Kafka's tools
keys.py         `/plan/keys`: keys and the partition of each, which are not stored
check.py        `/plan/check`: a reassignment or a cluster is checked, and nothing stored
"""
