"""Placement over any attributes of brokers, by one of several policies; Kafka itself uses racks alone.

rules.py      the policy of a request, the attributes in their order, forced values; POLICIES: the costs of replicas
              by which each policy chooses rows
placing.py    the placement as the registry has it, and its options in requests
layout.py     brokers by their attributes; demands, the costs as a policy states them
tree.py       nested attributes: bounds on the replicas of each value in rows of least cost; the number of replicas of
              each broker, by weight; quotas_kernel.py has its loops
tables.py     tables of rows, nested or crossed: rows_kernel.py deals them, leaders_kernel.py chooses leaders;
              attributes that cross: the least cost of a row, by an exact solver if necessary; crossed_kernel.py
verifier.py   partitions that violate a policy, whichever planner placed them; verifier_kernel.py has its loop
"""
