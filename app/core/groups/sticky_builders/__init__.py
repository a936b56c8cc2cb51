"""How the sticky assignors find their answer.

assignment.py   which builder a group calls for: constrained.py (equal subscriptions), general.py (unequal)
group.py  racks.py  refusals.py   what both look at
lists.py  map_order.py  odd_sets.py  rebalance.py  endless.py   the general builder's parts
"""
