"""The group coordinator's assignors.

range.py  uniform.py (uniform_homogeneous.py, uniform_heterogeneous.py)  simple.py
group.py  topic_ids.py   what they look at: members in the coordinator's order, topics by id
"""
