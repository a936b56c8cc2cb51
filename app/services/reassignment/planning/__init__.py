"""From the problem to replica lists, leaders and batches.

solve.py          one solver after the other; solution.py: what they return
resources.py      replicas and leaders placed together, within limits of resources
placing.py        replicas placed by count, bytes or throughput
leading.py        the leaders of replica lists
log_dirs.py       the log directory of each replica; log_dir_avoidance.py: brokers without one for a replica
completion.py     lists that Kafka never completes while brokers are down
bounds.py         lower bounds that do not come from the solvers
movement.py       what is copied and removed, by replica and by broker
kafka_generate.py what Kafka's own tool would move, as a comparison
"""
