"""Events of an application's life, until it is stable again after each.

events.py  deploys, losses and scaling, and the change of clients that each causes
state.py   clients between rebalances: their tasks and lags
steps.py   events in order, each with its rebalances until no task warms up
"""
