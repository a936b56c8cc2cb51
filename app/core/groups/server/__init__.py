"""Assignors of the group coordinator (KIP-848, share groups). None of them uses racks as shipped.

range.py  uniform.py  simple.py  one assignor each, over topics by id
group.py      a group in the order in which the coordinator visits members
topic_ids.py  hash codes and order of topic ids, and the assignors over topics by name
"""
