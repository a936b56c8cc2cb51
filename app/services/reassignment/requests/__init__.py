"""What a request for a reassignment says, and its validation.

request.py       the record; validation.py: what is wrong with it by itself
balance.py       the balance of replicas and leaders; parts.py: isolated topics, pins, limits of batches
resources.py     capacities, traffic, limits, prices
broker_sets.py   sets of brokers and their topics
log_dirs.py      log directories
"""
