"""Consumer groups: who reads what after the next rebalance. One assignor a file, one `assign` verb.

What an assignor works on and answers: model.py

The classic client's assignors, rack-aware where KIP-881 made them so
    range.py  roundrobin.py  sticky.py  cooperative_sticky.py
    known_faults.py        what a prediction repeats of Kafka's faults, and a plan names
    sticky_assignment.py   the two builders: sticky_constrained.py (equal subscriptions), sticky_general.py (unequal)
    sticky_group.py, sticky_racks.py, sticky_refusals.py   what both look at
    sticky_lists.py, sticky_map_order.py, sticky_odd_sets.py, sticky_rebalance.py   the general builder's parts

The group coordinator's assignors (KIP-848, share groups), which ignore racks as shipped
    server_range.py  server_uniform.py (…_homogeneous.py, …_heterogeneous.py)  server_simple.py
    server_group.py  topic_ids.py   what they look at

The best a group could have, and its proof
    optimal.py  optimal_by_load.py
    fair_shares.py  optimal_network.py  lexicographic_flow.py   how it is found

What is said of any assignment, and what happens to a group
    locality.py  handover.py  violations.py
    events.py  rebalance.py  rebalance_trigger.py

Partitions, members and racks as arrays
    partition_table.py  owners.py  owned.py  holdings.py  audiences.py  readership.py  member_order.py  ranges.py
    rack_index.py  rack_match.py

The `…_kernel.py` files are the compiled loops; they are imported when they are first needed.
"""
