"""The shared assignment core: arrays and frozen records in, new arrays out.

It imports the standard library, numpy, numba and the exact solvers, and nothing of the house but `app.errors`. It has
no clock, log, I/O, environment or hidden randomness: every draw comes from a generator that the caller passes.

    model.py      Broker, Cluster, Topic, NewTopic, Placement: what goes in and out
    recorded.py   consumer groups as they were found
    certificate.py lower bound, gap, optimal, solver, constraints: one record for every planner
    flow.py       minimum-cost flow under several costs in order of importance, each proven
    jvm/          Java's Random, hashCode and HashMap order, where Kafka's outcome hangs on them
    groups/       consumer groups: assignors, the optimum, events
    keys/         which partition a key goes to, in which client
    replicas/     placement of new partitions, one policy a file, one `place` verb, and its verifier
    reassignment/ replicas and leaders moved as little as can be, with the proof, in safe batches
    streams/      Kafka Streams: where active, standby and warm-up tasks land, by which rule
    capacity/     the capacity model: load of each broker, failures, headroom, cost; its sweeps
    sweeps/       axes, fields, sampling and the scoring loop of sweeps of any kind; sweep_kinds.py lists the kinds
    measures/     balance, rack safety and exposure: what every plan reports
"""

ENGINE_VERSION = 1
"""Part of every plan's hash: raised whenever the core answers anything differently than before."""
