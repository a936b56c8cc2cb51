"""The progress of steps that only choose log directories: a partition's list is the same before and after them."""

from dataclasses import replace

import numpy as np

from app.core.model import Cluster, Topic
from app.core.reassignment import StepProgress, StepState
from app.formats.kafka_files.reassignment import ANY_LOG_DIR, PartitionReassignment
from app.services.reassignment.progress.located import LocatedPlan


def with_log_dirs(located: LocatedPlan, progress: StepProgress, cluster: Cluster) -> StepProgress:
    """The progress, where such a step is left if the partition has its list, and a replica another directory.

    A directory that the snapshot does not have is another one.
    """
    steps = located.steps
    if not steps.has_log_dirs:
        return progress
    is_only = (steps.before == steps.after).all(axis=1) & (progress.state == StepState.DONE)
    topics = {topic.name: topic for topic in cluster.topics}
    state = progress.state.copy()
    for number in range(len(steps)):
        its = steps.batch(number)
        requested = list(steps.requested(number)) if is_only[its].any() else []
        for place in np.flatnonzero(is_only[its]).tolist():
            if _is_elsewhere(requested[place], topics[requested[place].topic], cluster):
                state[its.start + place] = StepState.NOT_STARTED
    return replace(progress, state=state)


def _is_elsewhere(requested: PartitionReassignment, topic: Topic, cluster: Cluster) -> bool:
    """Whether a replica is in another directory than requested, and the partition has the requested list."""
    row = int(np.searchsorted(topic.partition_ids, requested.partition))
    replicas = [broker for broker in topic.destination.replicas[row].tolist() if broker >= 0]
    if replicas != list(requested.replicas):
        return False
    every = topic.replicas[row].tolist()
    for broker, path in zip(requested.replicas, requested.log_dirs or (), strict=False):
        if path == ANY_LOG_DIR:
            continue
        index = -1 if topic.log_dirs is None else int(topic.log_dirs[row, every.index(broker)])
        directories = cluster.log_dirs.get(broker, ())
        if not 0 <= index < len(directories) or directories[index].path != path:
            return True
    return False
