"""Integer models (CP-SAT): of small problems, of regions of brokers, and of limits that conflict.

placement_model.py   a Boolean for each eligible broker of each partition, and for its leader: all, or those near others
limit_model.py       limits that conflict only together, and the least excess; what is proven of the load above limits
regions.py           less movement by models of regions of brokers, with its bound; heavy replicas pinned to brokers
few_brokers.py       less movement within bounds of several loads, by models of a few brokers at a time
cell_model.py        a model of some partitions on the brokers of a region
"""
