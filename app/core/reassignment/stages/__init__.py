"""The stages of `plan`, each of which takes the problem and what the stages before it found.

placing.py        replicas by count, bytes or throughput; replicas that move for the balance of leaders
known_sets.py     replicas on replica sets that the cluster has
sets_of_width.py  replicas on the replica sets of a scatter width
resources.py      replicas and leaders together, within limits of resources
leading.py        the leaders of replica lists
log_dirs.py       the log directory of each replica, and other brokers for replicas that find none
"""
