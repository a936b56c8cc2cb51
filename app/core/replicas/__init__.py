"""Placement of new partitions: one algorithm a file, one `place` verb, one registry.

    registry.py      PLACEMENTS: name → algorithm; what the API, the docs and the conformance run read
    rack_modes.py    enforced, safe, disabled: how much racks count, whatever the algorithm
    admin_utils.py   KIP-36: the Kafka tools, and controllers before KRaft
    striped.py       KRaft's placer
    awareness/       none of Kafka's: by any attributes of brokers, under one of several policies
    sweep.py         one placement with many seeds: the scenarios of a sweep
    envelope.py      what can and cannot happen over all the draws that a controller may make

Each algorithm's envelope is found by its `…_envelope.py`; the striped placer's with `striped_outcomes.py` (every
outcome, where they are few), `striped_bounds.py` and `striped_epochs.py` (what no outcome passes, where they are many).
The `…_kernel.py` files are the compiled loops; they are imported when they are first needed.
"""
