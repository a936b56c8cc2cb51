"""What happens to a group.

events.py             members join, leave, are replaced; racks are lost; topics grow; replicas move
rebalance.py          the phases in which members hand over
rebalance_trigger.py  whether other metadata make the leader ask for one (KIP-881)
"""
