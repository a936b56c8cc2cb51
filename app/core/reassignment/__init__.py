"""Reassignment: replicas and leaders moved as little as can be, with the proof, in steps that Kafka executes safely.

problem.py     what is asked: where each partition's replicas are, and where they may be
balance.py     how even brokers are to be: `keep`, `tight`, a tolerance; the band of counts that it comes to
answer.py      what a solver answers: where the replicas shall be, and the bound that proves how good that is
"""
