"""Goals for loads of replicas and leaders, within limits, with little movement: by models, or by search and bounds.

balancing.py     the verb reach_goals: one goal, several jointly, or in order of priority
budget.py        the verb reach_within: goals as nearly as a budget of movement allows; the verb relieve: the least
                 movement that brings every broker below its limits
by_load.py       the verb place_by_load: replicas balanced by one load; forced moves alone; their certificates
one_load.py      one load that no leader changes: two starts, exact models of regions, a bound
exact.py         small problems: every aim in order, by integer models
shares.py        loads over ideal loads in integer models
answers.py       a placement with its certificates, excess and conflicts
"""
