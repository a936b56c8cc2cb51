"""Store the state of a cluster and find it again.

records.py    store, load and compare snapshots; validate a snapshot's lists; a later state from texts that have its
              topics alone; the clusters that were read last; the log directories of brokers by their paths
cautions.py   warnings about missing or inconsistent parts of a snapshot
"""

from app.services.snapshots.cautions import of_assembly, of_releases, of_skipped_lines
from app.services.snapshots.records import (
    NAMED_LOG_DIRS,
    check_brokers,
    first_repeated,
    load,
    log_dir_index,
    newest,
    require_distinct,
    require_unchanged,
    store,
    store_later,
)
