"""One use case a file, named as its kind. A service takes records and a unit of work, calls the core once, and says
what was found; it knows neither HTTP nor SQL.

    snapshots.py           keep a cluster as it was, and find it again
    snapshot_cautions.py   what it lacks, and what of it could not be joined
    replicas.py            place new partitions; replica_requests.py: what is asked; replica_differences.py and
                           replica_exports.py: compared, as a file
    aware_replicas.py      what there is to say more of replicas placed by attributes
    groups/                plan a consumer group
    reassignment/          move replicas and leaders as little as can be
    streams/               plan a Streams application
    keys.py                which partition a key goes to; key_encodings.py reads keys, null_keys.py what a producer sees
    sweeps/                thousands of scenarios scored chunk by chunk, of five kinds; their results
    spark_master.py        the Spark master that is configured
    checks.py              verify an assignment that anyone made; yardsticks.py: what the same end takes at least
    plans.py               what every kind of plan shares; kinds.py is the table of what differs between them
    jobs.py                the same requests, answered later
    datasets.py            which datasets a caller may have read
    exports.py             the formats that plans are handed over in
    conformance.py         run measured cases against the algorithms; vectors/ reads their inputs
    cautions.py            what the caller should know although it did not stop the answer
    seeds.py               seeds that nobody chose
    limits.py              how much one request may ask for
"""
