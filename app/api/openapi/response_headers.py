"""The headers of responses in the OpenAPI document, as `response_headers.json` has them."""

import json
from importlib.resources import files
from typing import Any

from app.api.http.middleware import COMPILING

_TABLE = json.loads(files("app.api.openapi").joinpath("response_headers.json").read_bytes())
COMPONENTS: dict[str, Any] = _TABLE["headers"]
"""Every header, once; responses refer to them."""


def declare(operation: dict[str, Any]) -> None:
    """Add to each response of an operation the headers that it has."""
    responses = operation["responses"]
    parameters = {parameter["name"].lower() for parameter in operation.get("parameters", ())}
    for status, response in responses.items():
        names = ["X-Request-ID", COMPILING, "RateLimit-Policy", "RateLimit", *_TABLE["of_statuses"].get(status, ())]
        names += _TABLE["of_operations"].get(f"{operation['operationId']} {status}", ())
        if status in ("200", "304") and "304" in responses:
            names += ["ETag", "Cache-Control", "Vary"]
        if status[0] == "2" and "idempotency-key" in parameters:
            names.append("Idempotency-Replayed")
        if status == "202" and "prefer" in parameters:
            names.append("Preference-Applied")
        response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
