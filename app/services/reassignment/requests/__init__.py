"""What a request for a reassignment says, and its validation.

request.py      the record; validation.py: what is wrong with it by itself
parts.py        its parts: resources, balance, limits, log directories, broker sets, isolated topics, pins
"""
