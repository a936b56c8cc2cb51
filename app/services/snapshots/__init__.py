"""Store the state of a cluster and find it again.

records.py    store, load and compare snapshots; check what a snapshot lists
cautions.py   warnings about missing or inconsistent parts of a snapshot
"""

from app.services.snapshots.cautions import of_assembly, of_cluster, of_releases, of_skipped_lines
from app.services.snapshots.records import (
    check_brokers,
    first_repeated,
    is_fresh,
    load,
    newest,
    require_distinct,
    require_unchanged,
    store,
)
