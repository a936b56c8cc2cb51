"""Placement that is aware of any attributes of brokers, by one of several policies; Kafka itself knows racks alone.

    rules.py       what a caller wants: the policy, the attributes in their order, forced values
    placing.py     POLICIES, and the placement as the registry has it
    spread.py, forced.py, hdfs.py, redis.py, kafka.py
                   one policy each: what it asks of a partition's replicas, as costs
    layout.py      the brokers by their attributes, and what a demand is
    tree.py        attributes within each other: how many replicas each value has in a row that costs least
    crossed.py     attributes that cross: the row that costs least, by an exact solver where need be
    quotas.py      how many replicas each broker gets, by weight
    tables.py      the rows of a table, dealt either way, and their leaders
    verifier.py    which partitions are not as a policy has them, whoever placed them

The `…_kernel.py` files are the compiled loops; they are imported when they are first needed.
"""
