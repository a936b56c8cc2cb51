"""`/v1/keys`: the partition of each key, in each client."""

from typing import Annotated

from fastapi import Body, Response

from app.api import examples
from app.api.http.auth import RequestLimits, json_only
from app.api.http.idempotency import OnceOnly
from app.api.http.operations import Operations, json_response
from app.core.keys.null_keys import NULL_KEY_POLICIES
from app.core.keys.partitioners import CLIENTS, PARTITIONERS
from app.services import keys
from app.services.bodies import AnswerRecord
from app.services.keys import KeysAnswer, KeysRequest

router = Operations("/v1/keys", "keys")


class PartitionerDocument(AnswerRecord):
    """A partitioner. `null_keys` is the policy for records without key; null if it hashes them as an empty key."""

    name: str
    """Name of the partitioner, as requests have it."""
    summary: str
    """Formula of the partitioner."""
    null_keys: str | None
    """Policy for records without key; null if they are hashed as an empty key."""
    empty_is_null: bool
    """Whether an empty key counts as none."""


class NullKeyPolicyDocument(AnswerRecord):
    """A policy for records without key."""

    name: str
    """Name of the policy."""
    summary: str
    """How the policy places records."""


class ClientDocument(AnswerRecord):
    """The default of a client library, from one version to another; null is the first or the current one."""

    client: str
    """Name of the client library."""
    language: str
    """Programming language of the library."""
    versions: str
    """Versions of the library with this default, in words."""
    since: str | None
    """First version with this default; null for the first version of all."""
    until: str | None
    """Last version with this default; null for the current one."""
    partitioner: str
    """Partitioner that the library uses by default."""
    null_keys: str | None
    """Policy for records without key; null if they are hashed as an empty key."""
    source: str
    """Address of the source code that states the default."""


class PartitionersDocument(AnswerRecord):
    """Partitioners, policies, and the default of each client."""

    partitioners: list[PartitionerDocument]
    """Partitioners, in the order of the registry."""
    null_key_policies: list[NullKeyPolicyDocument]
    """Policies for records without key, in the order of the registry."""
    clients: list[ClientDocument]
    """Default of each client library, by library and version."""


@router.operation("GET /partitioners", answer=PartitionersDocument, scope="read")
def list_partitioners() -> Response:
    """List partitioners, and the default of each client.

    List every partitioner, every policy for records without key, and the default of each client library by
    version: the choices of a form.
    """
    clients = [
        ClientDocument.of(client, client=client.library, null_keys=PARTITIONERS[client.partitioner].null_keys)
        for client in CLIENTS
    ]
    partitioners = [*map(PartitionerDocument.of, PARTITIONERS.values())]
    policies = [*map(NullKeyPolicyDocument.of, NULL_KEY_POLICIES.values())]
    return json_response(PartitionersDocument(partitioners, policies, clients))


@router.operation("POST /partitions", answer=KeysAnswer, takes=json_only)
def place_keys(
    once: OnceOnly, limits: RequestLimits, body: Annotated[KeysRequest, Body(openapi_examples=examples.KEYS_REQUEST)]
) -> Response:
    """Find the partition of each key.

    Place keys as one or several clients would. The answer has the partition of each key, the skew, the keys that
    another partition count moves (beside the expectation of a uniform hash), and the keys on which clients disagree.
    The same request gets the same answer, byte for byte, including records without key.
    """

    def answer() -> Response:
        return Response(keys.to_json(keys.place_keys(body, limits)), media_type="application/json")

    return once(answer)
