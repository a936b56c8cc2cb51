"""The classic client's assignors, as the leader of a group runs them.

range.py               topics by range; range_kernel.py has its loops
roundrobin.py          partitions in turn
sticky.py              the sticky assignor
cooperative_sticky.py  the sticky assignor with incremental rebalances
librdkafka_sticky.py   the sticky assignor of librdkafka; librdkafka_balance.py has its balancing
"""
