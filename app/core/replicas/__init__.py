"""Placement of new partitions: one algorithm a file, one `place` verb, one registry.

    registry.py      PLACEMENTS: name → algorithm; the source of the API, the docs and the conformance run
    rack_modes.py    enforced, safe, disabled: whether racks are used
    admin_utils.py   KIP-36: the Kafka tools, and controllers before KRaft
    striped.py       KRaft's placer
    awareness/       not one of Kafka's: by any attributes of brokers, under one of several policies
    sweep.py         one placement with many seeds: the scenarios of a sweep
    envelope.py      possible outcomes over all random choices of a controller

Each algorithm's envelope is computed by its `*_envelope.py`; the striped placer's with `striped_outcomes.py` (every
outcome, if they are few), `striped_bounds.py` and `striped_epochs.py` (bounds, if they are many).
The `*_kernel.py` files are the compiled loops.
"""
