"""Placement of new partitions: one algorithm a file, one `place` verb, one registry.

registry.py      PLACEMENTS: name → algorithm; the source of the API, the docs and the conformance run; placements.json
                 is the table of them
options.py       the options of a single algorithm: fields of a request, and how the algorithm reads them; enforced,
                 safe, disabled: whether racks are used
admin_utils.py   KIP-36: the Kafka tools, and controllers before KRaft; admin_utils_kernel.py has its loops
striped.py       KRaft's placer; striped_kernel.py has its loops
copysets.py      not one of Kafka's: on few replica sets, which copyset_rounds.py makes
awareness/       not one of Kafka's: by any attributes of brokers, under one of several policies
sweep.py         one placement with many seeds: the scenarios of a sweep
envelope.py      possible outcomes over all random choices of a controller
admin_utils_envelope.py  the envelope of AdminUtils; admin_utils_envelope_kernel.py has its loops
striped_envelope.py  the envelope of the striped placer: its outcomes if they are few;
                 striped_bounds.py bounds them if they are many
generate_movement.py  the movement that `kafka-reassign-partitions --generate` proposes, over seeds
"""
