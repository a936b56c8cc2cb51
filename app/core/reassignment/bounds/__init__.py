"""Lower bounds of every placement, whichever solver makes it: of loads, and of the movement.

bands.py            the narrowest feasible band of counts, and the lowest ceiling and the highest floor of one load if
                    replicas may be split, by maximum flows over groups of partitions
sums.py             sums over sets of brokers: shares of resources, excess, conflicts of limits
movement_bound.py   the movement within ceilings, floors and limits, by Lagrangian duality; prices_kernel.py has the
                    cheapest legal replicas and leader of each partition under dual prices
heavy_bound.py      the movement around replicas that load more than half of the ceiling
"""
