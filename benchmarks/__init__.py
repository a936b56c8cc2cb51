"""What `make bench` runs: how long things take, beside the least that they could take on the same machine.

A subject a file; each yields its results one by one, printed as a JSON object a line. Times are warm, in milliseconds:
the median, the fastest and the slowest of `runs`. `floor` names what cannot be left out (copying the result, bare SQL,
serialising the answer …); it is measured in the same run, turn and turn about, so that a busy machine slows both.

    measure.py       timing and what a result says
    clusters.py      the clusters that placements are measured on
    consumer_groups.py   the consumer groups that assignors are measured on
    request.py       the request that is measured over HTTP and without
    service.py       a real Postgres, and the real service in a process of its own
    baseline.py      what that process serves: the service, and the same INSERT without planning

    placement.py     a million partitions placed
    envelopes.py     what a controller's draws can come to
    counting.py      a million partitions counted
    losses.py        all losses of racks, brokers and pairs of brokers, and the copysets
    keys.py          a million keys placed, and a hundred thousand over HTTP
    groups.py        a million partitions assigned to two thousand members, and the optimum
    reassignments.py  brokers removed from a hundred thousand and a million partitions
    resources.py     several resources balanced at once; resource_clusters.py has their clusters
    roadef.py        instances of a challenge of machine reassignment; roadef_instances.py reads them
    skewed.py        replicas balanced by throughput that is very unequal
    kafkabench.py    the instances of docs/bench.md; kafkabench_models.py has them as integer models,
                     solutions/ the best known solutions of other planners
    capacity.py      capacity scenarios scored on one core
    sweeps.py        capacity scenarios through Spark, beside the same kernel alone
    spark.py         Spark: its start, a job of one key, keys hashed beside the bare kernel
    texts.py         Kafka's texts read and written
    from_texts.py    a reassignment of a hundred thousand partitions, from texts to its file
    keeping.py       a plan stored, without HTTP
    pages.py         pages of a thousand partitions over HTTP
    rooms.py         pages of a cluster of a million partitions, at their first view and again
    small_plans.py   a thousand partitions over HTTP
    large_plans.py   a million partitions over HTTP
    command.py       the command and the imports
"""
