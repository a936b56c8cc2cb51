"""Where things are kept: one real Postgres, embedded by default.

Rows never leave this package: it takes and gives frozen records. Nothing in it commits but the unit of work.

    database.py     the engine and the unit of work: one transaction, committed at the edge
    transaction.py  takes a connection with its first statement; what the stores of rows share
    tables.py       every table
    snapshots.py    clusters as they were
    plans.py        immutable answers, their assignments as one flat int32 array a topic
    jobs.py         what was asked for with `Prefer: respond-async`
    sweeps.py       sweeps, their ledger and their rows
    queue.py        puts a task on the queue, in the transaction of what it is about
    api_keys.py     who may ask; only hashes
    answers.py      what was answered to an Idempotency-Key
    migrations.py   brings a database's schema up to date
    pages.py        lists, newest first, a page at a time
    ids.py          ids that sort by time

The Postgres that `rackplan serve` starts when it is given none:

    embedded.py         runs it over a data folder, for as long as a context lasts
    data_folder.py      where the data is, and who may use it now
    server_programs.py  the Postgres programs that the server's account can execute
    postmaster.py       the server's main process: start, find, stop

As whom a child process runs, if the caller is root:

    accounts.py       the unprivileged account, and which folders are closed to it
    confinement.py    the mounts that let a command reach what it needs below a closed folder
    confined_exec.py  makes them, becomes the account and executes the command
"""
