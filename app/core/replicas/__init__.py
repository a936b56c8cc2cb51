"""Placement of new partitions: one algorithm a file, one `place` verb, one registry.

admin_utils.py   KIP-36: the Kafka tools, and controllers before KRaft
striped.py       KRaft's placer
rack_modes.py    enforced, safe, disabled: how much racks count
envelope.py      what can and cannot happen over all the draws that a controller may make
registry.py      PLACEMENTS: name → algorithm; what the API, the docs and the conformance run read
"""
