"""The examples of reassignments. They run as they stand on what the service keeps."""

from typing import Any

from app.api.examples import EXAMPLE_SNAPSHOT_ID

_SNAPSHOT_ID = str(EXAMPLE_SNAPSHOT_ID)
REASSIGNMENT: dict[str, Any] = {"snapshot_id": _SNAPSHOT_ID, "remove_brokers": [106]}
KEPT_REASSIGNMENT = REASSIGNMENT | {"labels": {"example": "documentation"}}
"""What the kept reassignment answers; its label is there for the same reason as the others'."""
REASSIGNMENT_REQUEST: dict[str, Any] = {
    "remove": {"summary": "Empty a broker, and move nothing else", "value": REASSIGNMENT},
    "add": {
        "summary": "Two brokers more: everyone gets an even share",
        "value": {
            "snapshot_id": _SNAPSHOT_ID,
            "add_brokers": [{"id": 107, "rack": "use1-az1"}, {"id": 108, "rack": "use1-az2"}],
            "balance": {"replicas": "tight", "leaders": "tight"},
            "trade_off": True,
        },
    },
    "replace": {
        "summary": "A broker replaced, another factor, limits on every batch",
        "value": {
            "snapshot_id": _SNAPSHOT_ID,
            "replace_brokers": {"103": 111},
            "replication_factor": {"orders": 4},
            "batches": {"max_moves_in_per_broker": 1, "throttle_bytes_per_s": 1048576, "hottest": "first"},
        },
    },
    "leaders": {
        "summary": "Leaders alone, away from one rack",
        "value": {
            "snapshot_id": _SNAPSHOT_ID,
            "leaders_only": True,
            "evacuate_leaders": {"racks": ["use1-az1"]},
        },
    },
    "relax": {
        "summary": "A whole rack removed, as well as it can be",
        "value": {"snapshot_id": _SNAPSHOT_ID, "remove_brokers": [105, 106], "on_conflict": "relax"},
    },
}
