"""The code of executors: plain functions over Arrow record batches and the core. Executors see this and `core` alone.

    loop.py         the type of kernels, and the loop around one on an executor
    registry.py     KERNELS: name → kernel, for the names in jobs
    scenarios.py    scenarios of a sweep of any kind that the core can read, scored
    files.py        Parquet and Arrow files that an executor opens itself
    key_counts.py   a dataset's distinct keys and how many records have each: the first step of a skew
    keys.py         load, moves and heaviest keys from those counts: the second

A kernel is tested without Spark: it takes an iterator of batches and returns one.

To add one: a file with its `prepare` and its loop, one entry in `registry.py`, its test in `tests/jobs`.
"""
