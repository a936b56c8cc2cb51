"""Kafka Streams: active, standby and warm-up tasks. One assignor a file, one `assign` verb, one registry.

model.py         input and output of an assignor; clients, tasks and client tags as arrays in Kafka's order; an
                 assignment in progress
registry.py      every assignor, by assignors.json, and every standby policy by name
assignors/       high availability (KIP-441), sticky, and the fallback while lags are unknown
coordinator/     streams groups (KIP-1071): the coordinator assigns tasks to members
standbys.py      standby policies: by load, by client tags (KIP-708); standbys_kernel.py has their loops
loads_kernel.py  loads of clients as Java's doubles compare them, and loops that balance loads
rack_aware/      KIP-925: whether it is on, the cost of an assignment, and Kafka's own optimum
violations.py    the verifier of any assignment
verdicts.py      KIP-708: ideal tasks, tags with enough values, the effects of each loss
traffic.py       partitions that an assignment reads across racks
optimum/         beyond Kafka: the best standbys, with a certificate
additions.py     the fewest clients that make the ideal possible for every task
lifecycle/       events, and the rebalances of an application until it is stable

No assignor needs the last six; all others import down this list. Files whose names end in
`_kernel` are compiled loops.
"""
