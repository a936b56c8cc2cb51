"""Keys: which partition a client sends a record to, what a resize does to that, and how even it is.

    model.py         many keys as two buffers, as Arrow keeps them; no copy per key
    serializers.py   what Java's serialisers make of strings and numbers
    hashes.py        murmur2, FNV-1a, CRC-32 and KafkaJS's own murmur2, of many keys at once
    folds.py         from a 32-bit hash to a partition: where clients that share a hash still differ
    partitioners.py  PARTITIONERS: name → function; what the API, the docs and the sweeps read
    null_keys.py     NULL_KEY_POLICIES: where records without a key go, generation by generation
    clients.py       CLIENTS: library and version → its default partitioner
    skew.py          load per partition: max/mean, Gini, the heaviest keys
    loads.py         records and bytes per partition, added up batch after batch
    resize.py        which keys change partition when the count does, next to what a uniform hash expects
    sweep.py         all of that over distinct keys and how many records have each, as Spark counts them
    agreement.py     where two partitioners send the same key elsewhere

`hashes_kernel.py` and `loads_kernel.py` hold the compiled loops; they are imported when they are first needed.
"""
