"""The assignors of kafka-python that decide otherwise than Kafka's Java client, as the leader of a group runs them.

range.py  sticky.py  sticky_balance.py
"""
