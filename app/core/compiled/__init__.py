"""Loops that numba compiles: each with one signature, compiled once for an installation and loaded from then on.

    arrays.py       array types that say the dtype and the number of dimensions: the signatures of loops
    loops.py        `@compiled`: a loop with the signature that its annotations declare
    dispatchers.py  numba's dispatchers, which compile or load a loop at its first call; parameters that are named
                    tuples: no references are counted
    interpreted.py  little work done by the source of a loop, without numba
    sources.py      which loops there are, which sources each is made of, and the digest of these
    entries.py      the cache: where compiled loops are stored, which of the stored are trusted
    building.py     compile all loops that the cache lacks, in parallel processes
    loaded.py       loads every compiled loop when it is imported, so that forked processes share them

Only `dispatchers` and `records` import numba, when a loop is first called: listing missing loops and importing a
solver do not wait for it. This package is the only one of the core that reads and writes files.
"""

import time

STARTED = time.time()
"""In seconds since 1970, before the first loop is imported: a source that changes later may differ from it."""
