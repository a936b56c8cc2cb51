"""The headers of responses in the OpenAPI document."""

from typing import Any

from app.api.start.preparation import HEADER as COMPILING

_TEXT = {"type": "string"}
_SECONDS = {"type": "integer", "minimum": 0}
_DECLARED: dict[str, tuple[str, dict[str, Any]]] = {
    "X-Request-ID": ("Id of the request in the log of the service; that of the request, if it has a short one.", _TEXT),
    COMPILING: ("Progress while the service compiles its loops, `120 of 220`; absent otherwise.", _TEXT),
    "Location": ("Path of the created resource, or of the job or sweep to poll.", _TEXT),
    "Retry-After": ("Seconds to wait before the next request.", _SECONDS),
    "ETag": ("Entity tag of the representation, for `If-None-Match`; of a snapshot, its content hash.", _TEXT),
    "Cache-Control": ("How the representation may be cached.", _TEXT),
    "Vary": ("Request headers that decide the representation.", _TEXT),
    "Content-Disposition": ("Name of the file.", _TEXT),
    "Idempotency-Replayed": ("`true` if the response is the stored one of an earlier request.", _TEXT),
    "Preference-Applied": ("`respond-async` if the request has become a job.", _TEXT),
    "RateLimit-Policy": ("Quotas of the key and the address; absent if none applies.", _TEXT),
    "RateLimit": ("Requests that are left (`r`), and seconds until the whole quota is there again (`t`).", _TEXT),
    "WWW-Authenticate": ("How to send an API key.", _TEXT),
}
COMPONENTS: dict[str, Any] = {
    name: {"description": description, "schema": schema} for name, (description, schema) in _DECLARED.items()
}
"""Every header, once; responses refer to them."""
_BY_STATUS = {
    "201": ("Location",),
    "202": ("Location", "Retry-After"),
    "401": ("WWW-Authenticate",),
    "409": ("Retry-After",),
    "429": ("Retry-After",),
    "503": ("Retry-After",),
}
_BY_OPERATION = {
    ("create_snapshot", "201"): ("ETag",),
    ("update_plan", "200"): ("ETag",),
    ("get_job", "200"): ("Retry-After",),
    ("get_sweep", "200"): ("Retry-After",),
    ("export_plan", "200"): ("Content-Disposition",),
    ("export_audit_log", "200"): ("Content-Disposition", "Cache-Control"),
    ("follow_sweep", "200"): ("Cache-Control",),
}


def declare(operation: dict[str, Any]) -> None:
    """Add to each response of an operation the headers that it has."""
    responses = operation["responses"]
    parameters = {parameter["name"].lower() for parameter in operation.get("parameters", ())}
    for status, response in responses.items():
        names = ["X-Request-ID", COMPILING, "RateLimit-Policy", "RateLimit", *_BY_STATUS.get(status, ())]
        names += _BY_OPERATION.get((operation["operationId"], status), ())
        if status in ("200", "304") and "304" in responses:
            names += ["ETag", "Cache-Control", "Vary"]
        if status[0] == "2" and "idempotency-key" in parameters:
            names.append("Idempotency-Replayed")
        if status == "202" and "prefer" in parameters:
            names.append("Preference-Applied")
        response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
