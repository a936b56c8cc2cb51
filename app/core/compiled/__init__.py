"""Loops that numba compiles: each with one signature, compiled once for an installation and loaded from then on.

    arrays.py   array types that say the dtype and the number of dimensions: the signatures of loops
    loops.py    `@compiled`: a loop with the signature that its annotations declare; imports numba
    sources.py  which loops there are, which sources each is made of, and the digest of these
    entries.py  the cache: where compiled loops are stored, which of the stored are trusted
    building.py compile all loops that the cache lacks, in parallel processes

Only `loops` imports numba, so that what is missing can be listed at once. This package is the only one of the core that
reads and writes files.
"""
