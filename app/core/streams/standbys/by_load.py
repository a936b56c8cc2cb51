"""The default rule for standbys: each goes to the client with the fewest tasks a thread that has no copy yet.

Hard: no client gets a second copy of a task, so that there may be fewer standbys than were asked for. Ties go to the
lowest process id.

Source: KIP-441, `DefaultStandbyTaskAssignor` of Apache Kafka 4.0.
"""

import numpy as np

from app.core.streams.application import Application, Holdings
from app.core.streams.model import Bools, StreamsOptions
from app.core.streams.standbys.policy import StandbyPolicy


def place(application: Application, held: Holdings, options: StreamsOptions) -> None:
    """Place standbys of all stateful tasks, task by task."""
    from app.core.streams.standbys import placing_kernel as kernel  # noqa: PLC0415 — numba takes long to import

    wanted = np.full(len(application.stateful), options.num_standby_replicas, np.int64)
    kernel.to_least_loaded(application.stateful, wanted, held.active, held.standby, held.counts, application.capacities)


def may_move(application: Application) -> Bools:
    """Any standby may go to anybody."""
    return np.ones((len(application.clients), len(application.clients)), np.bool_)


BY_LOAD = StandbyPolicy("by_load", "each standby to the client with the fewest tasks a thread", place, may_move)
