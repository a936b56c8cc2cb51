"""Use cases: a service takes records and a unit of work and calls the core once. It knows neither HTTP nor SQL.

plans/           what all kinds of plans share: the pipeline, the record, exports, the registry
replicas/        place new topics and partitions
reassignment/    change a cluster with the least movement
groups/          predict a consumer group
streams/         predict a Kafka Streams application
snapshots/       store a cluster's state and find it again
keys/            place keys on partitions as each client does
checks/          verify a reassignment of any origin
sweeps/          score many scenarios; one file a sweep kind
webhooks/        subscribe URLs to events, and decide about attempts to deliver them
api_keys.py      scopes of API keys, and what a new key has to be
share_links.py   signed links to one page or picture
outbound.py      which addresses the service may call
spark_master.py  the configured Spark master
jobs.py          requests that a worker answers later
cautions.py      an answer's warnings
seeds.py         hashes of requests, and the seeds derived from them
limits.py        how much one request may ask for
"""
