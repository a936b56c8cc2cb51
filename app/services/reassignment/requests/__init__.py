"""What a request for a reassignment says, and its validation.

request.py       the record; validation.py: what is wrong with it by itself
resources.py     capacities, traffic, limits, prices
broker_sets.py   sets of brokers and their topics
log_dirs.py      log directories
"""
