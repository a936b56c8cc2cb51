"""Use cases: a service takes records and a unit of work and calls the core once. It knows neither HTTP nor SQL.

plans/           common parts of all kinds of plans: the pipeline, the record, exports, the registry
replicas/        place new topics and partitions
reassignment/    change a cluster with the least movement
groups/          predict a consumer group
streams/         predict a Kafka Streams application
restarts/        plan the restart of a cluster in waves
consumers/       plan the consumers of a group over time
snapshots/       store a cluster's state and find it again
keys/            place keys on partitions as each client does
checks/          verify a reassignment of any origin
sweeps/          score many scenarios; one file a sweep kind
oidc/            OpenID Connect: tokens of the operator's issuer, and the sign-in of browsers
bodies.py        the bases of requests: bodies of the API that services read
fields.py        scalar fields of requests, and defaults for gaps in snapshots
amounts.py       bytes and shares with their units; rates of partitions and prices of traffic
webhooks.py      subscribe URLs to events, and decide about attempts to deliver them
callers.py       the caller of a request: the holder of a key, or the subject of a token
api_keys.py      scopes of API keys, and the rules of a new key
share_links.py   signed links to one page or picture
outbound.py      the addresses that the service may call
dataset_roots.py  the folders from which sweeps may read datasets
spark_master.py  the configured Spark master
jobs.py          requests that a worker answers later
cautions.py      an answer's warnings; cautions.json has the meaning of each code, caution_texts.json their texts
limits.py        limits on the size of one request
quotas.py        the quotas of each team
audit.py         exports of the audit log
backups.py       checks that a restored database has every plan and snapshot unchanged
"""
