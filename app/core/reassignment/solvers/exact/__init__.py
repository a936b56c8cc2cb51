"""Integer models (CP-SAT): of small problems, of regions of brokers, and of limits that conflict.

placement_model.py   a small problem: a Boolean for each eligible broker of each partition, and for its leader
limit_model.py       limits that conflict only together, and the least excess; what is proven of the load above limits
regions.py           less movement by models of regions of brokers, with its bound
core_cells.py        the cells of a region that an optimal placement may use, by reduced costs
cell_model.py        the model of these cells
heavy_starts.py      placements with heavy replicas pinned to brokers
"""
