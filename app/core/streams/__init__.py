"""Kafka Streams: where active, standby and warm-up tasks land. One assignor a file, one `assign` verb, one registry.

model.py         what an assignor works on and answers
registry.py      every assignor and every rule for standbys by its name
assignors/       high availability (KIP-441), sticky, and the fallback while lags are not known
standbys/        the rules by which standbys are placed: by load, by client tags (KIP-708)
rack_aware/      KIP-925: whether it is on, what an assignment costs, and Kafka's own optimum of it
loads_kernel.py  what a client's load is, and how tasks are evened out
client_tags.py   client tags as numbers
application.py   clients and tasks in Kafka's order, as arrays, and who holds what meanwhile
violations.py    the verifier of any assignment
verdicts.py      KIP-708: which tasks' copies are apart, which tags have values enough, what each loss costs
traffic.py       what an assignment reads across racks
tag_limits.py    which client tags Kafka Streams does not start with
optimum/         beyond Kafka: the best standbys there are, with a proof or an honest gap
additions.py     the fewest clients that make the ideal possible for every task
lifecycle/       events, and what an application makes of them until it is stable

No assignor needs the last seven; all else imports down this list. The `…_kernel.py` files are the compiled loops; they
are imported when they are first needed.
"""
