"""Clusters: the newest state of each, a map of its brokers, and its state after a loss.

home.py          `/`: all clusters, and the form that adds one
cluster.py       `/clusters/{name}`: the page of a cluster, and its map as a picture; the partitions of the snapshots
                 that were looked at last
view.py          the state of a cluster's page, from its address; rooms.py: the tables of its other pages; the
                 cluster in whose context a page is: the rail's list, and the bar that stays
broker_map.py    racks and brokers with one measure, as records and as SVG
directories.py   the log directories of a broker; states.py: what differs between two snapshots
health.py        problems of a cluster, in words; losses.py: the loss of each rack and broker
"""
