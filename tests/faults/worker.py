"""A worker whose leases are as short as the pauses of the faults, and which expects to be lost often."""

from app import worker
from app.jobs import housekeeping, queue

LEASE_S = 2.0

if __name__ == "__main__":
    queue.HEARTBEAT_SECONDS, queue.STALLED_SECONDS = 0.5, LEASE_S
    # Faults are a thousand times as frequent as in service: a job lost repeatedly is no poison job here.
    housekeeping.MAX_LOSSES = housekeeping.MAX_FAILURES = 1_000_000
    worker.main()
