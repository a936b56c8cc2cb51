"""Requests for aware placements."""

from typing import Any

import httpx

from tests.api.contract import place


def brokers(*domains: str, **fields: Any) -> list[dict[str, Any]]:
    """Brokers from 1 on; a domain is `region/zone/rack`, or less of it."""
    names = ("region", "zone", "rack")
    return [
        {"id": index, "attributes": dict(zip(names, domain.split("/"), strict=False)), **fields}
        for index, domain in enumerate(domains, start=1)
    ]


SIX = brokers("eu/eu-1", "eu/eu-1", "eu/eu-2", "eu/eu-2", "us/us-1", "us/us-1")


def aware(client: httpx.Client, *topics: dict[str, Any], **fields: Any) -> httpx.Response:
    return place(client, *topics, **{"algorithm": "awareness", "brokers": SIX, "attributes": ["zone"]} | fields)
