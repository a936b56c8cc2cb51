"""The whole service while its parts are killed, paused and restarted at random, and clients plan and sweep meanwhile.

    service.py   `rackplan serve` with its Postgres, worker and Spark, and the parts that a fault can hit
    worker.py    its worker, with shorter leases
    clients.py   clients that repeat a request with its Idempotency-Key until it is answered
    run.py       faults at random, and the laws after them

`make faults` injects 1,000 faults; `python -m tests.faults --faults 200 --seed 7` injects 200, with that seed.
"""
