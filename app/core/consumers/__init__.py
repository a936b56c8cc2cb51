"""Consumers of a group over time: the fewest in each interval, and the assignment that moves least from the one before.

model.py           the problem, its answer by interval, and the bounds that prove it; violations of an answer,
                   whichever solver made it
packing_kernel.py  compiled loops: best fit, and moves that give partitions back
exact.py           the integer model of both
delay.py           rates of consumption if a backlog may wait
scaling.py         the verb `scale`, over all intervals, and the front of consumers and movement; the fewest consumers
                   of one interval: lower bounds, best fit decreasing, an exact model; the assignment of an interval
                   that moves least, given the number of consumers
resampling.py      rates of intervals of one length from amounts at irregular times
sizing.py          how many partitions a topic needs
kafka.py           how many consumers one of Kafka's assignors needs
sweep.py           scenarios of a sweep: groups at capacities, delays and spare consumers
"""

from app.core.consumers.delay import delayed
from app.core.consumers.kafka import largest_loads
from app.core.consumers.model import ConsumersProblem, Interval, consumer_violations
from app.core.consumers.resampling import resampled
from app.core.consumers.scaling import front, scale
from app.core.consumers.sizing import partitions_needed
