"""Consumer groups: who reads what after the next rebalance. One assignor a file, one `assign` verb, one registry.

model.py          what an assignor works on and answers
registry.py       every assignor by its name: where it runs, whether racks count, how its members hand over
sweep.py          every group under every assignor, with members lost and added: the scenarios of a sweep
classic/          the classic client's assignors, rack-aware where KIP-881 made them so
sticky_builders/  how the two sticky ones among them find Kafka's answer
server/           the group coordinator's assignors (KIP-848, share groups), which ignore racks as shipped
optimum/          the best a group could have, and its proof
lifecycle/        what happens to a group: events, rebalances and their phases, KIP-881's trigger
measures/         what is said of any assignment: locality, handovers, violations, Kafka's known faults
arrays/           partitions, members, racks and weights as arrays, which all of these share

Imports point down this list, but for `sticky_builders`, which serves `classic`. The `…_kernel.py` files are the
compiled loops; they are imported when they are first needed.
"""
