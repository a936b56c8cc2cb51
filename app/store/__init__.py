"""Persistence in Postgres, embedded by default.

Rows never leave this package: its methods take and return frozen records. Only the unit of work commits.

    database.py     the engine and the unit of work: one transaction, committed at the edge; sessions of browsers that
                    have signed in; keys that the installation makes for itself
    addresses.py    one address or several, and when a connection counts as lost
    transaction.py  takes a connection with its first statement; the base class of the stores; the role of requests,
                    from which policies hide the rows of other teams; the team that a request or job acts for; the base
                    class of stores of rows that have an id and a team: ids that sort by time, lists in pages
    tables.py       the tables of tables.sql, and the statements of statements.sql
    records.py      records of snapshots and plans, without the database driver
    unit.py         the unit of work as a type, without it
    snapshots.py    states of clusters
    plans.py        immutable answers, their assignments as one flat int32 array a topic
    jobs.py         requests with `Prefer: respond-async`
    sweeps.py       sweeps, their ledger and their rows
    webhooks.py     webhooks, and the outbox of events
    queue.py        puts tasks on the queue, and again if their worker is dead; deadlines and failed attempts
    activity.py     counts of jobs, sweeps and queued tasks, for metrics
    audit.py        the audit log, and the actor of a transaction
    api_keys.py     API keys; only their hashes are stored; share links that are valid
    usage.py        bytes and rows of each team, as triggers count them
    backup.py       a backup of every table in one archive, and the database restored from it
    answers.py      responses to requests with an Idempotency-Key
    migrations.py   brings a database's schema up to date

The Postgres that `rackplan serve` starts unless a database is configured:

    embedded.py         runs it over a data folder, for as long as a context lasts, with the settings of postgres.conf
    data_folder.py      chooses the data folder, and locks it
    scratch.py          temporary folders that the next process removes if this one is killed
    server_programs.py  the Postgres programs that the server's account can execute
    postmaster.py       the server's main process: start, find, stop
    supervision.py      starts it, and the worker, again whenever they end
    accounts.py         its account if the caller is root, and the folders that the account cannot access
"""
