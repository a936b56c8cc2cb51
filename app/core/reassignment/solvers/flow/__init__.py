"""Replicas balanced by count, by flows: the least movement, exact, with its certificate.

least_movement.py   the verbs: by balance, within a band, within a budget, as a trade-off; `keep`
within_band.py      the least movement within a band, by column generation
network.py          the flow network of the active partitions, and back from its flow
levels.py           the narrowest bands of counts, in proportion to the weights of brokers
per_topic.py        the least movement within the bands of the cluster and of each topic
topic_network.py    its flow network, with a node for each topic and rack in place of partitions that consist of slots
destinations.py     ties in movement, broken by bytes and topics; destinations_kernel.py has the loop
places.py           costs of places, the cheapest place under dual prices, counts, order; places_kernel.py; partitions
                    with one replica in each rack that they may use
"""
