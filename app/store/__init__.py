"""Where things are kept: one real Postgres, embedded by default.

Rows never leave this package: it takes and gives frozen records. Nothing in it commits but the unit of work.

    database.py     the engine and the unit of work: one transaction, opened and committed at the edge
    tables.py       every table
    snapshots.py    clusters as they were
    plans.py        immutable answers, their assignments as one flat int32 array a topic
    jobs.py         what was asked for with `Prefer: respond-async`
    api_keys.py     who may ask; only hashes
    answers.py      what was answered to an Idempotency-Key
    migrations.py   brings a database's schema up to date
    embedded.py     the Postgres that `rackplan serve` starts when it is given none
"""
