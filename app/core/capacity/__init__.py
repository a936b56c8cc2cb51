"""The capacity model: scenarios placed with the real algorithms, loaded broker by broker under failures, and scored.

    scenario.py   topology, broker profile, topics, clients, traffic, targets, prices, failure sets: the records
    sections.py   reads the sections of a scenario, JSON → records; topics from a snapshot and measured ingress
    loads.py      the load of every broker before and under each failure set; loads_kernel.py is its compiled loop;
                  ingress, egress and bytes on disk of each partition; bytes stored by each broker; bytes that cross
                  racks, and the monthly cost
    placed_traffic.py   the traffic of a placement, and its change by each loss; losses_kernel.py is its compiled loop
    score.py      the score of a scenario, and its JSON; headroom, the first limit to break, and in which month
    ranking.py    objectives, constraints, the Pareto front, and why cheaper neighbours fail
    scenarios.py  the paths that axes may name, and the scenario at a grid index
    sweep.py      the definition of a sweep, and the scores of its scenarios

Rates are bytes/s, sizes bytes; money is per month, and GiB occur in prices alone.
"""
