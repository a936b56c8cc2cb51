"""Beyond Kafka: the best standbys for given active tasks, with a certificate.

quality.py         the goals in order, for any assignment, so that Kafka's own can be compared
tag_patterns.py    clients that a task's standbys may be placed on, for the most distinct tag values
profile_loads.py   the least imbalance over profiles of clients, if several tags decide: CP-SAT and dual prices
pattern_choice.py  the pattern of each task, if several tags decide: CP-SAT
best_standbys.py   the whole optimum: minimum-cost flows within the patterns, with the certificate
"""
