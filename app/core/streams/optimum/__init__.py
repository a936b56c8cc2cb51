"""Beyond Kafka: the best standbys there are for given active tasks, with a proof or an honest gap.

problem.py         active tasks, tags and state as arrays
quality.py         what counts, in order; for any assignment, so that Kafka's own stands beside it
tag_patterns.py    which clients a task's standbys may go to, so that its tag values are as distinct as can be
standby_flow.py    the evenest, then least moving placement within that: minimum-cost flows
pattern_choice.py  which pattern each task takes, where several tags leave a choice: CP-SAT
best_standbys.py   all of it, with its certificate
"""
