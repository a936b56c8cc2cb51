"""The examples of the documentation, which run as they stand if RACKPLAN_EXAMPLES stores the resources that they name.

`<name>.json` has the example bodies of one operation, in the form of OpenAPI: name → `summary` and `value`.
`snapshot_body.json` has the OpenAPI description of a snapshot's body, which has three media types, `check_text.json`
that of a check's text.
"""

from importlib.resources import files
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import Path

EXAMPLE_SNAPSHOT_ID = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
EXAMPLE_GROUPS_SNAPSHOT_ID = UUID("01890a5d-ac96-7b62-9d0e-4a7f1c83e265")
EXAMPLE_PLAN_ID = UUID("01890a5d-ac97-7f2e-9c41-5d1f3a2b6c70")
EXAMPLE_GROUP_PLAN_ID = UUID("01890a5d-ac96-7e08-b3a1-7c2d5f4e9b18")
EXAMPLE_STREAMS_PLAN_ID = UUID("01890a5d-ac99-7c3d-a5b6-2e8f7d1c4a93")
EXAMPLE_REASSIGNMENT_PLAN_ID = UUID("01890a5d-ac9b-7a15-9f37-4b6d8e2c1f50")
EXAMPLE_SWEEP_ID = UUID("01890a5d-ac9a-7d4e-8b21-6f3e9c0d5a82")
EXAMPLE_JOB_ID = UUID("01890a5d-ac98-7b1a-8e3d-0f4c2d9a7e51")
EXAMPLE_SHARE_LINK_ID = UUID("01890a5d-ac9d-7c31-8e45-2f6a9b0d4c78")
"""Not stored with the other examples: it would be listed among the links that were created."""
EXAMPLE_WEBHOOK_ID = UUID("01890a5d-ac9c-7e63-a1d8-5b9f3c7e2d14")
EXAMPLE_DELIVERY_ID = UUID("01890a5d-ac9d-7b27-8c4e-9d1f6a3e5b80")


def _bodies(name: str) -> dict[str, Any]:
    """The example bodies of one operation, by name."""
    bodies: dict[str, Any] = orjson.loads(files("app.api.examples").joinpath(f"{name}.json").read_bytes())
    return bodies


SNAPSHOT_EXAMPLES = _bodies("snapshots")
PLACE_REQUEST = _bodies("replicas")
REASSIGNMENT_REQUEST = _bodies("reassignment")
GROUP_REQUEST = _bodies("group")
STREAMS_REQUEST = _bodies("streams")
RESTART_REQUEST = _bodies("restart")
CONSUMERS_REQUEST = _bodies("consumers")
CHECK_REQUEST = _bodies("checks")
CHECK_TEXT = _bodies("check_text")
COMPARISON_REQUEST = _bodies("comparison")
COMPARISON_TEXT = _bodies("comparison_text")
KEYS_REQUEST = _bodies("keys")
SWEEP_REQUEST = _bodies("sweeps")
CLONE_REQUEST = _bodies("clones")
WEBHOOK_REQUEST = _bodies("webhooks")
PROGRESS_REQUEST = _bodies("progress")
SHARE_LINK_REQUEST = _bodies("share_links")

SNAPSHOT: dict[str, Any] = SNAPSHOT_EXAMPLES["json"]["value"]
SNAPSHOT_WITH_GROUP: dict[str, Any] = SNAPSHOT_EXAMPLES["groups"]["value"]
PLACE: dict[str, Any] = PLACE_REQUEST["replay"]["value"]
REASSIGNMENT: dict[str, Any] = REASSIGNMENT_REQUEST["remove"]["value"]
GROUP: dict[str, Any] = GROUP_REQUEST["range"]["value"]
STREAMS: dict[str, Any] = STREAMS_REQUEST["zones"]["value"]
SWEEP: dict[str, Any] = SWEEP_REQUEST["grid"]["value"]
SWEEP_BASE: dict[str, Any] = SWEEP["base"]

_OF_EXAMPLE = {"labels": {"example": "documentation"}}
"""Makes a stored example another plan than the one that a caller gets for the same request, and may delete."""
STORED_PLAN, STORED_REASSIGNMENT, STORED_GROUP_PLAN, STORED_STREAMS_PLAN = (
    request | _OF_EXAMPLE for request in (PLACE, REASSIGNMENT, GROUP, STREAMS)
)
"""The requests of the stored plans."""

SNAPSHOT_BODY = _bodies("snapshot_body")
SNAPSHOT_BODY["requestBody"]["content"]["application/json"]["examples"] = SNAPSHOT_EXAMPLES

SWEEP_ID = Path(description="Id of the sweep.", examples=[str(EXAMPLE_SWEEP_ID)])
ScenarioIndex = Annotated[
    int, Path(ge=0, le=2**31 - 1, description="Index of the scenario in the sweep, from 0.", examples=[0])
]
SNAPSHOT_ID = Path(description="Id of the snapshot.", examples=[str(EXAMPLE_SNAPSHOT_ID)])
UNUSED_SNAPSHOT_ID = Path(description="Id of the snapshot.", examples=[str(EXAMPLE_GROUPS_SNAPSHOT_ID)])
EXAMPLE_PLAN_IDS = (EXAMPLE_PLAN_ID, EXAMPLE_REASSIGNMENT_PLAN_ID, EXAMPLE_GROUP_PLAN_ID, EXAMPLE_STREAMS_PLAN_ID)
PLAN_ID = Path(description="Id of the plan.", examples=[str(plan_id) for plan_id in EXAMPLE_PLAN_IDS])
REASSIGNMENT_PLAN_ID = Path(description="Id of the plan.", examples=[str(EXAMPLE_REASSIGNMENT_PLAN_ID)])
PLAN_PATCH: dict[str, Any] = {
    "approve": {
        "summary": "Approve a plan",
        "value": {"status": "approved", "labels": {"ticket": "OPS-17"}, "notes": "For the window of Sunday"},
    }
}
JOB_ID = Path(description="Id of the job.", examples=[str(EXAMPLE_JOB_ID)])
SHARE_LINK_ID = Path(description="Id of the share link.", examples=[str(EXAMPLE_SHARE_LINK_ID)])
WEBHOOK_ID = Path(description="Id of the webhook.", examples=[str(EXAMPLE_WEBHOOK_ID)])
DELIVERY_ID = Path(description="Id of the delivery.", examples=[str(EXAMPLE_DELIVERY_ID)])
