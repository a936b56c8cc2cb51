"""Events of a group's life.

events.py             members join, leave, are replaced; racks are lost; topics grow; replicas move
steps.py              events in order, each with its rebalances; the same of share groups, in which nothing is handed
                      over
rebalance.py          one rebalance and its phases, by protocol
rebalance_trigger.py  whether changed metadata makes the leader trigger one (KIP-881)
"""
