"""One load of replicas: where brokers shed and receive first, bounds, and exact models of regions of brokers.

`resources.one_load` makes a placement of them.

rules.py               constraints, loads and costs, as the arrays that compiled loops take
local_search.py        the initial placement, and what brokers above a ceiling shed, heaviest first
bounds.py              lowest ceiling, highest floor
regions.py             less movement by exact models of regions, with its bound
core_cells.py          the cells that an optimal placement may use, by reduced costs
cell_model.py          the exact model of free cells (CP-SAT)
exact_model.py         the exact model of a small problem (CP-SAT)
heavy_bound.py         least movement around replicas that load more than half of the ceiling
heavy_starts.py        placements with these replicas pinned to brokers
moves_kernel.py        legal moves; brokers above a ceiling shed replicas, which are redistributed
legal_sets_kernel.py   the cheapest legal set of brokers of a partition; the initial placement
"""
