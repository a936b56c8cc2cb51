"""The classic client's assignors, as the leader of a group runs them.

range.py  roundrobin.py  sticky.py  cooperative_sticky.py
librdkafka_sticky.py  librdkafka_balance.py    another library's
"""
