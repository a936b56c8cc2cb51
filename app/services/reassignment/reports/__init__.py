"""The answer to a request, from its problem and its solution.

report.py         the whole answer, of the following parts; movement with its lower bound, and by broker; the title and
                  summary in lists
balance.py        balanced loads before and after; results of goals, and excess over limits
batches.py        the batches, how long they take, the throttle to use, and which of them Kafka never completes; copies
                  between log directories
loads.py          loads before, after and after losses; bytes between racks
losses.py         the loads of all remaining brokers after each loss, as a table
plan_cautions.py  what to know before a plan is executed, and measures that are paid for by another
"""
