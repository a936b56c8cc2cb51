"""Sweeps: thousands of scenarios, scored chunk by chunk by workers, and stored.

lifecycle.py   submit, score in chunks, cancel, clone; the document of a sweep
answers.py     the answers about scenarios: their declarations
results.py     scored scenarios, their distributions, the front and the best, a scenario as a plan
kind.py        the interface of a kind; kinds.py the table of all kinds
capacity.py    a base scenario and axes over it; measured_topics.py reads its topics from a snapshot
consumers.py   consumers of many groups at capacities, delays and spare consumers
draws.py       one placement with many seeds
groups.py      consumer groups under assignors, with members lost and added
keys.py        a dataset of keys under partitioners, and which datasets may be read
reassignment.py  brokers removed and added, and the movement
"""

from app.services.sweeps.kinds import KINDS
from app.services.sweeps.lifecycle import (
    FIRST_SCENARIOS,
    Chunk,
    SweepRequest,
    again,
    cancel,
    definition,
    fail,
    fail_late,
    next_chunk,
    record,
    request_of,
    seconds_left,
    store_scored,
    submit,
    wait,
)
