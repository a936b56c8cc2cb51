"""Keys: the partition that a client sends a record to, the effect of a resize, and skew.

    model.py         many keys as two buffers, as in Arrow; no copy per key
    hashes.py        murmur2, FNV-1a, CRC-32 and KafkaJS's own murmur2, of many keys at once; hashes_kernel.py
    partitioners.py  PARTITIONERS: name → function, the source of the API, the docs and the sweeps; keys that two
                     partitioners send to different partitions; CLIENTS: library and version → its default
                     partitioner; both are tables in partitioners.json; functions from a 32-bit hash to a partition
    null_keys.py     NULL_KEY_POLICIES: where records without a key go, generation by generation
    skew.py          load per partition: max/mean, Gini, the heaviest keys
    resize.py        keys that move with a new partition count, beside the expectation for a uniform hash
    sweep.py         the same over distinct keys with their numbers of records, as Spark counts them

Files whose names end in `_kernel` are compiled loops.
"""
