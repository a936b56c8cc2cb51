"""A reassignment cut into batches that Kafka executes one after another, within limits on every broker at every time.

model.py              the input, the limits, the batches; the steps that change racks, and make groups rebalance
cutting.py            the verb: steps, packed into batches, with figures and a lower bound; moves between log
                      directories of a broker, as steps
scheduling.py         the steps of each partition, and the batch of each step
execution.py          the order of execution, and the cordons that are lifted meanwhile; how long batches take: a
                      fluid model of replication, in durations_kernel.py; the throttle to use
quota_credit.py       how much sooner a batch is complete than by that model: fetches under Kafka's quotas, simulated in
                      fetches_kernel.py
verifier.py           violations of any batches, by replaying them
replay.py             their steps replayed, by row; violations of moves between log directories
steps_kernel.py       the replica lists that each partition passes through
first_fit_kernel.py   steps packed into batches, first fit
spreading_kernel.py   steps exchanged between batches, so that bytes are even
"""
