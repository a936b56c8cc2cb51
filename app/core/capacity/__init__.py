"""The capacity model: a sweep's scenarios, each placed for real, loaded broker by broker, and scored.

    definition.py    a sweep: a base scenario, what varies, what is looked for
    grid.py          which values the axes take in which scenario
    scenarios.py     scenario i of a sweep: a pure function of both
    axes.py          what an axis may vary, its values, and how one is written into the base scenario
    sampling.py      n of a grid's indices without replacement, however large the grid
    reading.py       a scenario's JSON → records, topic_reading.py its topics; fields.py reads one field,
                     consistency.py asks what goes together
    scenario.py      topology, broker profile, topics, clients, traffic, targets, prices: the records
    measured.py      a cluster's topics, and measured bytes/s, as a scenario's topics
    workload.py      what each partition takes in, gives out and keeps
    failures.py      which brokers are lost together
    loads.py         every broker's load before and under each failure set; loads_kernel.py is its compiled loop
    storage.py       what brokers keep on disk, and at which growth it fills
    limits.py        headroom, the first limit to break, and in which month
    costs.py         bytes that cross racks, and what a month costs
    score.py         what a scored scenario reports
    scoring.py       a range of scenarios scored, reusing (recent.py) what does not change from one to the next
    ranking.py       objectives, constraints, the Pareto front
    neighbours.py    why the cheaper neighbours of a scenario fail

Rates are bytes/s, sizes bytes; money is per month and the only place where GiB stand.
"""
