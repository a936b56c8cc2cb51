"""Consumer groups: the assignment after the next rebalance. One assignor a file, one `assign` verb, one registry.

model.py          input and output of an assignor
registry.py       every assignor by name: where it runs, whether it uses racks, its protocol; assignors.json has them
sweep.py          every group under every assignor, with members lost and added: the scenarios of a sweep
classic/          the classic client's assignors, rack-aware if KIP-881 made them so
kafka_python/     assignors of kafka-python that decide otherwise
sticky_builders/  the two builders that the sticky ones among them share
server/           the group coordinator's assignors (KIP-848, share groups), which ignore racks as shipped
optimum/          an optimal assignment and its certificate
lifecycle/        events, rebalances and their phases, KIP-881's rebalance trigger
measures/         locality, loads, handovers, violations and known faults of any assignment
arrays/           partitions, members, subscriptions and racks as arrays, which all of these share

Imports point down this list, except that `classic` imports `sticky_builders`. Files whose names end
in `_kernel` are compiled loops.
"""
