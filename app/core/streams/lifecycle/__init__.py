"""What happens to an application, event after event, until it is stable again.

events.py      what may happen: deploys, losses, scaling
state.py       clients between rebalances: what each says of its tasks and of how far it is behind
changes.py     what an event makes of the clients
rebalances.py  one rebalance, and what it moves and restores
steps.py       events in turn, each with its rebalances until no task warms up
"""
