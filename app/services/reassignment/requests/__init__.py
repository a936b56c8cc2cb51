"""The request for a reassignment and its validation.

request.py      the record; validation.py: its validation by itself
parts.py        its parts: resources, balance, limits, log directories, broker sets, isolated topics, pins
"""
