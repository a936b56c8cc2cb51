"""The envelope of the striped placer: what the placement of one topic can come to, over all of its draws."""

from collections.abc import Sequence

import numpy as np

from app.core.jvm.random import JavaRandom, independent_seed
from app.core.model import Broker, NewTopic
from app.core.replicas import striped_kernel as kernel
from app.core.replicas.envelope import Envelope, ObservedRange, bounded_and_sampled, enumerated
from app.core.replicas.striped import Racks, check, fill
from app.core.replicas.striped_bounds import bound_outcomes
from app.core.replicas.striped_outcomes import enumerate_outcomes

BOUND_REPLICAS = 4_000_000
"""Some 50 ms of work at most, and commonly less than one: the bounds are what a plan promises."""
ENUMERATION_STEPS = 1_000
SAMPLED_REPLICAS = 1_000_000
"""Each is some 10 ms of work."""
FEWEST_SEEDS = 2


def envelope(brokers: Sequence[Broker], topic: NewTopic, *, seeds: int = 1000, first_seed: int = 0) -> Envelope:
    """Find what placing one topic can come to, over all draws of `striped.place`.

    Parameters
    ----------
    seeds : how many seeds are sampled where the outcomes are too many to enumerate; fewer, but no fewer than 2, where
        placing the topic so often would take long. The result says how many it were.
    first_seed : sampled are the seeds `independent_seed(first_seed, i)`, so that each can be replayed.

    Returns
    -------
    Enumerated where the outcomes are few: where the topic has no more partitions than there are unfenced brokers (in
    up to some 200 racks), and for a few reshuffles of small clusters; else proven bounds and sampled ranges.

    Raises what `striped.place` does. Draws nothing.
    """
    racks = Racks.of(brokers)
    factor = check(racks, topic)
    observed = enumerate_outcomes(racks, factor=factor, partitions=topic.partitions, limit=ENUMERATION_STEPS)
    if observed is not None:
        return enumerated(racks.members, observed)
    bounds = bound_outcomes(racks, factor=factor, partitions=topic.partitions, limit=BOUND_REPLICAS)
    # Drawing the offsets of a rack takes as long as placing some 200 replicas, and starting as some 4,000.
    affordable = SAMPLED_REPLICAS // (topic.partitions * factor + 200 * racks.count + 4_000)
    sampled = _sample(racks, factor, topic.partitions, max(FEWEST_SEEDS, min(seeds, affordable)), first_seed)
    return bounded_and_sampled(racks.members, bounds, sampled)


def _sample(racks: Racks, factor: int, partitions: int, seeds: int, first_seed: int) -> ObservedRange:
    observed = ObservedRange(racks.is_unfenced)
    places = np.arange(len(racks.members), dtype=np.int32)
    rows = np.empty((partitions, factor), np.int32)
    counts = np.zeros((seeds, 2, len(places)), np.int64)
    for index, of_seed in enumerate(counts):
        random = JavaRandom(independent_seed(first_seed, index))
        fill(rows, racks, racks.draw_offsets(random), random, members=places)
        kernel.count(rows, of_seed)
    observed.add(counts)
    return observed
