"""The examples of the documentation. They run as they stand: the service keeps the snapshot, plans and job named."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Path

EXAMPLE_SNAPSHOT_ID = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
EXAMPLE_GROUPS_SNAPSHOT_ID = UUID("01890a5d-ac96-7b62-9d0e-4a7f1c83e265")
EXAMPLE_PLAN_ID = UUID("01890a5d-ac97-7f2e-9c41-5d1f3a2b6c70")
EXAMPLE_GROUP_PLAN_ID = UUID("01890a5d-ac96-7e08-b3a1-7c2d5f4e9b18")
EXAMPLE_STREAMS_PLAN_ID = UUID("01890a5d-ac99-7c3d-a5b6-2e8f7d1c4a93")
EXAMPLE_REASSIGNMENT_PLAN_ID = UUID("01890a5d-ac9b-7a15-9f37-4b6d8e2c1f50")
EXAMPLE_SWEEP_ID = UUID("01890a5d-ac9a-7d4e-8b21-6f3e9c0d5a82")
EXAMPLE_JOB_ID = UUID("01890a5d-ac98-7b1a-8e3d-0f4c2d9a7e51")

SNAPSHOT: dict[str, Any] = {
    "cluster": "example",
    "brokers": [
        {"id": 101, "rack": "use1-az1"},
        {"id": 102, "rack": "use1-az1"},
        {"id": 103, "rack": "use1-az2"},
        {"id": 104, "rack": "use1-az2"},
        {"id": 105, "rack": "use1-az4"},
        {"id": 106, "rack": "use1-az4"},
    ],
    "topics": [
        {
            "name": "orders",
            "partitions": [
                {
                    "partition": 0,
                    "replicas": [101, 103, 105],
                    "isr": [101, 103, 105],
                    "leader": 101,
                    "size_bytes": 1048576,
                },
                {
                    "partition": 1,
                    "replicas": [104, 106, 102],
                    "isr": [104, 106, 102],
                    "leader": 104,
                    "size_bytes": 2097152,
                },
            ],
        }
    ],
}
BROKERS_TEXT = """\
10.0.0.1:9092 (id: 101 rack: use1-az1 isFenced: false) -> (
10.0.0.2:9092 (id: 103 rack: use1-az2 isFenced: false) -> (
10.0.0.3:9092 (id: 105 rack: use1-az4 isFenced: false) -> (
"""
TOPICS_TEXT = (
    "Topic: orders\tTopicId: qZugq_NJRUyvZZHyC6trPg\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n"
    "\tTopic: orders\tPartition: 0\tLeader: 101\tReplicas: 101,103,105\tIsr: 101,103,105\tElr: \tLastKnownElr: \n"
)
GROUPS_TEXT = """\

GROUP    TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID     HOST       CLIENT-ID
billing  orders  0          1550            1562            12   billing-0-35ee  /10.0.1.1  billing-0

GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS
billing         10.0.0.1:9092  (101)      range                Stable               1
"""
_PASTED = BROKERS_TEXT + TOPICS_TEXT + GROUPS_TEXT
SNAPSHOT_WITH_GROUP: dict[str, Any] = SNAPSHOT | {
    "cluster": "example-groups",
    "groups": [
        {
            "group_id": "billing",
            "state": "Stable",
            "assignor": "range",
            "members": [
                {
                    "member_id": "billing-0-35ee",
                    "client_id": "billing-0",
                    "host": "/10.0.1.1",
                    "rack_id": "use1-az1",
                    "topics": ["orders"],
                    "owned_partitions": {"orders": [0]},
                    "generation_id": 4,
                    "assigned_partitions": {"orders": [0]},
                },
                {
                    "member_id": "billing-1-80b7",
                    "client_id": "billing-1",
                    "host": "/10.0.1.2",
                    "rack_id": "use1-az2",
                    "topics": ["orders"],
                    "owned_partitions": {"orders": [1]},
                    "generation_id": 4,
                    "assigned_partitions": {"orders": [1]},
                },
            ],
            "offsets": [
                {
                    "topic": "orders",
                    "partition": 0,
                    "current_offset": 1550,
                    "log_end_offset": 1562,
                    "lag": 12,
                    "member_id": "billing-0-35ee",
                },
                {
                    "topic": "orders",
                    "partition": 1,
                    "current_offset": 1963,
                    "log_end_offset": 1963,
                    "lag": 0,
                    "member_id": "billing-1-80b7",
                },
            ],
        }
    ],
}

SNAPSHOT_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/SnapshotRequest"},
                "examples": {
                    "json": {"summary": "Six brokers in three racks", "value": SNAPSHOT},
                    "groups": {"summary": "With a consumer group", "value": SNAPSHOT_WITH_GROUP},
                },
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["cluster"],
                    "additionalProperties": False,
                    "properties": {
                        "cluster": {"type": "string", "minLength": 1, "maxLength": 249},
                        "brokers": {
                            "type": "string",
                            "description": "The output of kafka-broker-api-versions, registrations, or bytes.",
                        },
                        "topics": {"type": "string", "description": "The output of kafka-topics --describe."},
                        "log_dirs": {"type": "string", "description": "The output of kafka-log-dirs --describe."},
                        "groups": {
                            "type": "string",
                            "description": "The output of kafka-consumer-groups --describe, also with --members "
                            "--verbose or --state, one after another; or described groups as JSON.",
                        },
                    },
                },
                "examples": {
                    "texts": {
                        "summary": "The output of the Kafka tools",
                        "value": {
                            "cluster": "example-texts",
                            "brokers": BROKERS_TEXT,
                            "topics": TOPICS_TEXT,
                            "groups": GROUPS_TEXT,
                        },
                    }
                },
            },
            "text/plain": {
                "schema": {"type": "string"},
                "examples": {"texts": {"summary": "The same, one after another", "value": _PASTED}},
            },
        },
    }
}

_TOPICS = [{"name": "orders-v2", "partitions": 12, "replication_factor": 3}]
PLACE: dict[str, Any] = {"snapshot_id": str(EXAMPLE_SNAPSHOT_ID), "algorithm": "striped", "seed": 42, "topics": _TOPICS}
KEPT_PLAN = PLACE | {"labels": {"example": "documentation"}}
"""What the kept plan answers; the label keeps it apart from what anyone gets for the same request, and may delete."""
PLACE_REQUEST: dict[str, Any] = {
    "replay": {"summary": "The placement by a KRaft controller with this seed", "value": PLACE},
    "envelope": {
        "summary": "All placements by a KRaft controller",
        "value": {"snapshot_id": str(EXAMPLE_SNAPSHOT_ID), "algorithm": "striped", "topics": _TOPICS},
    },
    "pinned": {
        "summary": "KIP-36 from a fixed start, on brokers listed here",
        "value": {
            "brokers": [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}, {"id": 3, "rack": "c"}],
            "fixed_start_index": 0,
            "topics": [{"name": "payments", "partitions": 6, "replication_factor": 2}],
            "labels": {"team": "payments"},
        },
    },
    "awareness": {
        "summary": "Over regions and zones, two of which are down",
        "value": {
            "brokers": [
                {"id": 1, "attributes": {"region": "eu", "zone": "eu-1"}, "weight": 2},
                {"id": 2, "attributes": {"region": "eu", "zone": "eu-1"}},
                {"id": 3, "attributes": {"region": "us", "zone": "us-1"}},
                {"id": 4, "attributes": {"region": "us", "zone": "us-1"}},
            ],
            "algorithm": "awareness",
            "policy": "forced",
            "attributes": ["region", "zone"],
            "forced": {"zone": ["eu-1", "eu-2", "us-1", "us-2"]},
            "topics": [{"name": "payments", "partitions": 6, "replication_factor": 4}],
        },
    },
}
CHECK_REQUEST: dict[str, Any] = {
    "check": {
        "summary": "One partition moved",
        "value": {
            "snapshot_id": str(EXAMPLE_SNAPSHOT_ID),
            "reassignment": {
                "version": 1,
                "partitions": [{"topic": "orders", "partition": 0, "replicas": [102, 103, 105]}],
            },
        },
    }
}

_MEMBERS = [
    {"member_id": "billing-0", "rack_id": "use1-az1", "topics": ["orders"], "owned_partitions": {"orders": [0, 1, 2]}},
    {"member_id": "billing-1", "rack_id": "use1-az2", "topics": ["orders"], "owned_partitions": {"orders": [3, 4, 5]}},
]
_ORDERS = {
    "name": "orders",
    "partitions": [{"partition": p, "replicas": [1 + p % 3, 1 + (p + 1) % 3]} for p in range(6)],
}
_RACKED = [{"id": 1, "rack": "use1-az1"}, {"id": 2, "rack": "use1-az2"}, {"id": 3, "rack": "use1-az4"}]
GROUP: dict[str, Any] = {"brokers": _RACKED, "topics": [_ORDERS], "assignor": "range", "members": _MEMBERS}
KEPT_GROUP_PLAN = GROUP | {"labels": {"example": "documentation"}}
"""What the kept group plan answers; its label is there for the same reason as the other's."""
GROUP_REQUEST: dict[str, Any] = {
    "range": {"summary": "The assignment, and its reads across racks", "value": GROUP},
    "compare": {
        "summary": "Comparison of four assignors",
        "value": GROUP | {"assignor": ["range", "cooperative-sticky", "uniform", "optimal"]},
    },
    "events": {
        "summary": "A member joins, a rack is lost, the topic grows",
        "value": GROUP
        | {
            "assignor": "cooperative-sticky",
            "events": [
                {"join": {"member_id": "billing-2", "rack_id": "use1-az4", "topics": ["orders"]}},
                {"lose_rack": "use1-az2"},
                {"topic_grown": {"topic": "orders", "partitions": 9}},
            ],
        },
    },
    "metadata": {
        "summary": "A member by the coordinator's bytes, on a snapshot",
        "value": {
            "snapshot_id": str(EXAMPLE_SNAPSHOT_ID),
            "assignor": "range",
            "members": [
                {
                    "member_id": "billing-0",
                    "member_metadata": "AAMAAAABAAZvcmRlcnP/////AAAAAP////8ACHVzZTEtYXox",
                }
            ],
        },
    },
}

_CLIENTS = [
    {
        "process_id": f"00000000-0000-0000-0000-00000000000{place}",
        "client_tags": {"zone": zone, "cluster": cluster},
        "rack_id": zone,
    }
    for place, (zone, cluster) in enumerate(
        [("use1-az1", "k8s-1"), ("use1-az2", "k8s-1"), ("use1-az4", "k8s-1"), ("use1-az1", "k8s-2")], start=1
    )
]
_TASKS = [f"{subtopology}_{number}" for subtopology in range(2) for number in range(4)]
STREAMS: dict[str, Any] = {
    "tasks": _TASKS,
    "stateful_tasks": _TASKS[4:],
    "clients": _CLIENTS,
    "num_standby_replicas": 1,
    "rack_aware_assignment_tags": ["zone"],
}
KEPT_STREAMS_PLAN = STREAMS | {"labels": {"example": "documentation"}}
"""What the kept Streams plan answers; its label is there for the same reason as the others'."""
STREAMS_REQUEST: dict[str, Any] = {
    "zones": {"summary": "Every standby in another zone than its task", "value": STREAMS},
    "deploy": {
        "summary": "An additional client: movement and warm-ups",
        "value": STREAMS
        | {
            "clients": [
                *(
                    client | {"previous_active": _TASKS[place::3], "capacity": 2}
                    for place, client in enumerate(_CLIENTS[:3])
                ),
                _CLIENTS[3],
            ],
        },
    },
    "racks": {
        "summary": "Minimal traffic across racks (KIP-925)",
        "value": {
            "subtopologies": [{"id": 0, "source_topics": ["orders"], "changelog_topics": ["app-store-changelog"]}],
            "brokers": _RACKED,
            "topics": [_ORDERS, _ORDERS | {"name": "app-store-changelog"}],
            "clients": _CLIENTS[:3],
            "num_standby_replicas": 1,
            "rack_aware_assignment_strategy": "min_traffic",
        },
    },
}

KEYS_REQUEST: dict[str, Any] = {
    "clients": {
        "summary": "Two clients, and twice the partitions",
        "value": {
            "keys": ["alice", "bob", "carol", "alice", None],
            "partitioner": ["murmur2_adaptive", "consistent_random"],
            "partitions": 12,
            "compare_partitions": [24],
        },
    },
    "null_keys": {
        "summary": "Records without key, by queue sizes",
        "value": {
            "keys": ["alice", None, None, None, None],
            "partitioner": "murmur2_adaptive",
            "partitions": 4,
            "null_keys": {
                "seed": 42,
                "available_partitions": [0, 1, 3],
                "queue_sizes": [0, 3, 1],
                "batch_bytes": 16384,
                "record_bytes": 10000,
            },
        },
    },
    "numbers": {
        "summary": "Numbers as LongSerializer writes them",
        "value": {"keys": [1, 2, 3], "encoding": "int64", "partitioner": "murmur2", "partitions": 6},
    },
}

_PROFILE = {
    "disk_bytes": 4e12,
    "nic_in_bytes_per_s": 6.25e8,
    "nic_out_bytes_per_s": 6.25e8,
    "price_per_month": 400,
}
SWEEP_BASE: dict[str, Any] = {
    "topology": {"racks": ["use1-az1", "use1-az2", "use1-az4"], "brokers_per_rack": 2},
    "broker_profile": _PROFILE,
    "topics": [
        {
            "name": "orders",
            "partitions": 48,
            "replication_factor": 3,
            "min_insync_replicas": 2,
            "ingress_bytes_per_s": 3e8,
            "retention_s": 43200,
            "consumer_groups": 2,
        }
    ],
    "placement": {"algorithm": "admin_utils", "seed": 7},
    "clients": {"follower_fetching": True},
    "traffic": {"growth_per_month": 0.03, "horizon_months": 24},
    "failures": ["none", "broker", "rack"],
    "targets": {"disk": 0.8, "nic_in": 0.7, "nic_out": 0.7},
    "prices": {"cross_rack_per_gib": 0.02},
}
SWEEP: dict[str, Any] = {
    "base": SWEEP_BASE,
    "axes": {"topology.brokers_per_rack": [2, 3, 4, 6], "topics.*.replication_factor": [2, 3]},
    "objective": "monthly_cost",
    "constraints": {"min_headroom": 1.2},
}
SWEEP_REQUEST: dict[str, Any] = {
    "grid": {"summary": "Number of brokers and replicas", "value": SWEEP},
    "sample": {
        "summary": "Twenty scenarios out of a grid of a thousand",
        "value": SWEEP
        | {
            "axes": {
                "topology.brokers_per_rack": {"from": 2, "to": 11},
                "topics.*.consumer_groups": {"from": 1, "to": 10},
                "traffic.growth_per_month": {"from": 0, "to": 0.09, "step": 0.01},
            },
            "sample": {"count": 20, "seed": 1},
        },
    },
    "measured": {
        "summary": "The topics of a snapshot, with measured traffic",
        "value": SWEEP
        | {
            "base": {name: section for name, section in SWEEP_BASE.items() if name != "topics"}
            | {
                "measured": {
                    "snapshot_id": str(EXAMPLE_SNAPSHOT_ID),
                    "bytes_in": {"csv": "topic,partition,bytes_in_per_s\norders,0,40e6\norders,1,90e6\n"},
                    "every_topic": {"min_insync_replicas": 2, "consumer_groups": 2},
                }
            },
            "axes": {"topology.brokers_per_rack": [2, 3, 4], "partitions_multiplier": [1, 12]},
        },
    },
    "draws": {
        "summary": "A thousand draws of the same topic: the distribution of the spread",
        "value": {
            "kind": "placement_draws",
            "snapshot_id": str(EXAMPLE_SNAPSHOT_ID),
            "topics": _TOPICS,
            "seeds": {"first": 0, "count": 1000},
        },
    },
    "groups": {
        "summary": "Every group, under three assignors, with members lost and added",
        "value": {
            "kind": "consumer_groups",
            "snapshot_id": str(EXAMPLE_GROUPS_SNAPSHOT_ID),
            "assignors": ["range", "cooperative-sticky", "uniform"],
            "members_lost": [0, 1],
            "members_added": [0, 1],
        },
    },
    "reassignment": {
        "summary": "Each broker removed in turn, with and without a new one",
        "value": {
            "kind": "reassignment",
            "snapshot_id": str(EXAMPLE_SNAPSHOT_ID),
            "axes": {"remove_broker": "each", "add_brokers": [0, 1]},
        },
    },
}
CLONE_REQUEST: dict[str, Any] = {
    "again": {"summary": "The same again", "value": {}},
    "axes": {"summary": "Over other axes", "value": {"axes": {"traffic.growth_per_month": [0, 0.05]}}},
}

SWEEP_ID = Path(examples=[str(EXAMPLE_SWEEP_ID)])
ScenarioIndex = Annotated[int, Path(ge=0, le=2**31 - 1, examples=[0])]
SNAPSHOT_ID = Path(examples=[str(EXAMPLE_SNAPSHOT_ID)])
PLAN_ID = Path(
    examples=[
        str(plan_id)
        for plan_id in (EXAMPLE_PLAN_ID, EXAMPLE_REASSIGNMENT_PLAN_ID, EXAMPLE_GROUP_PLAN_ID, EXAMPLE_STREAMS_PLAN_ID)
    ]
)
JOB_ID = Path(examples=[str(EXAMPLE_JOB_ID)])
