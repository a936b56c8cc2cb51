"""The shared assignment core: arrays and frozen records in, new arrays out.

It imports the standard library, numpy, numba and the exact solvers, and of this package `app.errors` alone. It has
no clock, log, I/O, environment or hidden randomness: every random number comes from a generator that the caller passes.

    compiled/     loops that numba compiles, their signatures and their cache; alone in that it reads and writes files
    model.py      Broker, Cluster, Topic, NewTopic, Placement: input and output; cordoned brokers (KIP-1066), and
                 the changes that Kafka rejects because of them; the characters that no name may have
    recorded.py   consumer groups as a snapshot has them
    kafka_versions.py  releases of Kafka, and the ranges of releases for which an algorithm holds
    replica_lists.py padded replica lists: stacked, compared, counted by broker
    counting_kernel.py a stable sort by small integers, of loops and of Python
    certificate.py lower bound, gap, optimal, solver, constraints: one record for every planner
    flow.py       minimum-cost flow under several costs in order of importance, each proven; flow_kernel.py is its loop
    integer.py    the solver of integer models, which leaves signals alone
    jvm/          Java's Random, hashCode and HashMap order, where the results of Kafka depend on them
    groups/       consumer groups: assignors, the optimum, events
    keys/         the partition of a key, by client
    replicas/     placement of new partitions, one algorithm a file, one `place` verb, and its verifier
    reassignment/ replicas and leaders moved as little as possible, with the proof, in batches within limits
    restarts/     restart waves: the fewest that keep partitions writable, with the proof
    consumers/    consumers of a group over time: the fewest, with the least movement, and the proof
    streams/      Kafka Streams: assignment of active, standby and warm-up tasks
    capacity/     the capacity model: load of each broker, failures, headroom, cost; its sweeps
    sweeps/       axes, fields, sampling and the scoring loop of sweeps of any kind
    measures/     balance, rack safety and exposure: reported by every plan
"""

ENGINE_VERSION = 2
"""Part of every plan's hash: raised whenever answers of the core change; a kind of plan may have one of its own."""
