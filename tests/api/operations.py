"""The committed OpenAPI document, by operation; `test_document.py` compares it with the service's."""

import json
from typing import Any

from tests.conftest import ROOT

COMMITTED = (ROOT / "openapi" / "openapi.json").read_text(encoding="utf-8")
DOCUMENT: dict[str, Any] = json.loads(COMMITTED)
OPERATIONS: list[tuple[str, str, dict[str, Any]]] = [
    (method, path, operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if method in ("get", "post", "put", "patch", "delete")
]
IDS: list[str] = [operation["operationId"] for _, _, operation in OPERATIONS]


def codes_of(method: str, path: str, status: int) -> list[str]:
    """The codes of problems that an operation is documented to answer with a status; `path` is as in the document."""
    response = DOCUMENT["paths"].get(path, {}).get(method.lower(), {"responses": {}})["responses"].get(str(status))
    if response is None:
        return []
    codes: list[str] = response["content"]["application/problem+json"]["schema"]["properties"]["code"]["enum"]
    return codes
