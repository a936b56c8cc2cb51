"""Reassignment: replicas and leaders moved as little as can be, with the proof, in steps that Kafka executes safely.

problem.py     what is asked: where each partition's replicas are, and where they may be
balance.py     how even brokers are to be: `keep`, `tight`, a tolerance; the band of counts that it comes to
domains.py     the domain of each partition: who may hold it, how it is spread over racks
answer.py      what a solver answers: where the replicas shall be, and the bound that proves how good that is
verifying.py   the verifier: what is wrong with a placement, whoever made it
yardstick.py   what a change that anybody planned takes at least
counts/        replicas balanced by their number, exactly
leaders/       which replica of each partition is its preferred leader: by count, exactly, or by ingress
loads/         replicas balanced by bytes or throughput, with both gaps
batches/       the way there: batches within limits, one after another, each with its inverse
sweep/         a broker removed, brokers added: the scenarios of a sweep
"""
