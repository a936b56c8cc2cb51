"""Streams groups (KIP-1071): the group coordinator assigns tasks to members, without a leader among the clients.

model.py            input and output: subtopologies, members with their current tasks, the assignment; number of tasks
                    a member is to have, as members fill up
sticky_by_pairs.py  the sticky assignor of Kafka 4.1, which keeps pairs of tasks apart
sticky_by_load.py   the sticky assignor since 4.2, which fills processes by load
processes.py        the same over clients as processes, in the form of the classic assignors
"""
