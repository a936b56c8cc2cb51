"""Consumer groups: who reads what after the next rebalance. One assignor a file, one `assign` verb, one registry.

model.py   members, the topics they read, and what an assignor answers
"""
