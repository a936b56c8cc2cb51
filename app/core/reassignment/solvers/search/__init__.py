"""Local search for replicas and leaders within ceilings, floors and limits, with little movement.

search.py            the verb: changes that lower the penalty, then those undone that it does not need; the placement
                     with forced moves alone, and its leaders
state_kernel.py      a placement that changes one replica or leader at a time, with the penalty of each broker
search_kernel.py     which broker changes next, and how many of its replicas and leaders at once
changes_kernel.py    the worth of moves of replicas and transfers of leaders; replicas that may fill a broker
swaps_kernel.py      swaps of a broker's replicas with those of others
receivers_kernel.py  which brokers receive, and which give
annealing.py         less movement within bounds of loads, by simulated annealing under dual prices;
                     annealing_kernel.py tries random changes at a temperature
undo_kernel.py       undoing what the penalty does not need
heaviest_first.py    one load: what brokers above a ceiling shed, placed heaviest first
moves_kernel.py      legal moves; brokers above a ceiling shed replicas, which are redistributed
"""
