"""Replicas balanced by one load: searches and bounds, of which `resources.one_load` makes a placement.

by_load.py             the answer with its certificates; forced moves alone
rules.py               constraints, loads and costs, as the arrays that compiled loops take
local_search.py        the initial placement, and its improvement within a band of loads
bounds.py              lowest ceiling, highest floor, least movement by Lagrangian duality
neighbourhoods.py      less movement by exact models of regions and of some of their brokers, with its bound
core_cells.py          the cells that an optimal placement may use, by reduced costs
cell_model.py          the exact model of free cells (CP-SAT)
exact_model.py         the exact model of a small problem (CP-SAT)
heavy_bound.py         least movement around replicas that load more than half of the ceiling
heavy_starts.py        placements with these replicas pinned to brokers
moves_kernel.py        single moves; brokers above a ceiling shed replicas, which are redistributed
improving_kernel.py    brokers below a floor receive replicas; unnecessary moves are undone
legal_sets_kernel.py   the cheapest legal set of brokers of each partition
"""
