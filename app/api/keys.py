"""`/v1/keys`: which key goes to which partition, in which client."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Depends, Response, Security
from pydantic import AfterValidator, BaseModel, Field

from app import errors
from app.api import examples
from app.api.auth import principal
from app.api.dependencies import RequestLimits, json_only
from app.api.fields import ONE, ONE_OR_SEVERAL, SEVERAL, Int32, PartitionId, Seed
from app.api.fields import Request as RequestModel
from app.api.idempotency import OnceOnly
from app.api.problems import responses
from app.core.keys.agreement import Disagreement
from app.core.keys.clients import CLIENTS
from app.core.keys.null_keys import DEFAULT_BATCH_BYTES, NULL_KEY_POLICIES
from app.core.keys.partitioners import PARTITIONERS
from app.core.keys.resize import Resize
from app.core.model import INT32_MAX
from app.services import keys
from app.services.keys import DEFAULT_RECORD_BYTES, Encoding, KeysRequest, NullKeys

router = APIRouter(prefix="/v1/keys", tags=["keys"])


def _known(name: str) -> str:
    if name not in PARTITIONERS:
        raise ValueError(f"there is no partitioner {name}; there are {', '.join(PARTITIONERS)}")
    return name


# The registry decides: its names are the enum of the document.
PartitionerName = Annotated[str, AfterValidator(_known), Field(json_schema_extra={"enum": list(PARTITIONERS)})]
MOST_PARTITIONS = 1_000_000
Count = Annotated[Int32, Field(le=MOST_PARTITIONS, json_schema_extra={"minimum": 1})]
NonNegative = Annotated[int, Field(ge=0, le=INT32_MAX)]


class NullKeysRequest(RequestModel):
    """What the producer knows when it places records without key."""

    seed: Seed | None = Field(
        None,
        description="Replays java.util.Random; each partitioner starts from it anew. One that is left out comes from "
        "the records, the partitions and these fields, and is answered.",
    )
    available_partitions: Annotated[list[PartitionId], Field(max_length=MOST_PARTITIONS, fail_fast=True)] | None = (
        Field(
            None, description="Those that have a leader, each once, in the metadata's order; none where all lack one."
        )
    )
    queue_sizes: Annotated[list[NonNegative], Field(max_length=MOST_PARTITIONS, fail_fast=True)] | None = Field(
        None, description="Batches that wait for each available partition; only the policy `adaptive` looks at them."
    )
    batch_bytes: Annotated[int, Field(ge=1, le=INT32_MAX, description="`batch.size`.")] = DEFAULT_BATCH_BYTES
    record_bytes: Annotated[
        Annotated[NonNegative, ONE] | Annotated[list[NonNegative], Field(fail_fast=True), SEVERAL], ONE_OR_SEVERAL
    ] = Field(
        DEFAULT_RECORD_BYTES,
        description="What a record takes of its batch: one number, or one for each of `keys`. The policies "
        "`sticky_batch` and `adaptive` look at it.",
    )

    def service(self) -> NullKeys:
        """As the service knows it."""
        return NullKeys(self.seed, self.available_partitions, self.queue_sizes, self.batch_bytes, self.record_bytes)


class PlaceKeysRequest(RequestModel):
    """Keys, and what places them. A key that is null is a record without key."""

    keys: Annotated[list[str | int | None], Field(min_length=1, fail_fast=True)]
    encoding: Literal["utf8", "base64", "int32", "int64"] = Field(
        "utf8",
        description="Numbers are hashed as Java's serialisers write them, big-endian; a string of digits is one too.",
    )
    partitioner: Annotated[
        Annotated[PartitionerName, ONE]
        | Annotated[list[PartitionerName], Field(min_length=1, max_length=len(PARTITIONERS)), SEVERAL],
        ONE_OR_SEVERAL,
    ] = Field(
        "murmur2",
        description="One or several; one that is listed twice is answered once. "
        + "; ".join(f"`{one.name}`: {one.summary}" for one in PARTITIONERS.values()),
    )
    partitions: Count
    compare_partitions: Annotated[list[Count], Field(max_length=32)] = Field(
        default_factory=list,
        description="Other partition counts: how many keys change partition. Records without key never count as moved.",
    )
    null_keys: NullKeysRequest | None = Field(
        None,
        description="Place records without key too, by each partitioner's own policy. Where it is left out they have "
        "no partition and no load.",
    )

    def service(self) -> KeysRequest:
        """As the service knows it."""
        names = [self.partitioner] if isinstance(self.partitioner, str) else list(dict.fromkeys(self.partitioner))
        return KeysRequest(
            self.keys,
            Encoding(self.encoding),
            names,
            self.partitions,
            self.compare_partitions,
            None if self.null_keys is None else self.null_keys.service(),
        )


class SkewDocument(BaseModel):
    """How uneven the keys lie. `gini` is 0 where all partitions have the same, and near 1 where one has all."""

    per_partition: list[int]
    max_over_mean: float
    gini: float


class PlacedKeysDocument(BaseModel):
    """One partitioner's answer.

    A record that has no key for it goes by the policy `null_keys`: its partition is null unless the request says how
    to draw it. The skew counts every record that has a partition; resizes only those that have it by their key.
    """

    partitioner: str
    partition_by_key: list[int | None]
    without_key: int
    null_keys: str | None
    skew: SkewDocument
    resizes: list[Resize]


class HeavyKeyDocument(BaseModel):
    """A key that occurs often, by its first place in the request."""

    first_index: int
    weight: int
    share: float


class KeysDocument(BaseModel):
    """What every partitioner makes of the keys, and where they differ by key."""

    keys: int
    partitions: int
    seed: int | None = Field(
        None, description="What the records without key were drawn from; there where the request has `null_keys`."
    )
    partitioners: list[PlacedKeysDocument]
    heaviest_keys: list[HeavyKeyDocument]
    disagreements: list[Disagreement]


class PartitionerDocument(BaseModel):
    """A partitioner. `null_keys` is the policy for records without key; null where it hashes them as an empty key."""

    name: str
    summary: str
    null_keys: str | None
    empty_is_null: bool


class NullKeyPolicyDocument(BaseModel):
    """Where records without key go."""

    name: str
    summary: str


class ClientDocument(BaseModel):
    """A client library's default, from one version to another; null: from the start, to this day."""

    client: str
    language: str
    versions: str
    since: str | None
    until: str | None
    partitioner: str
    null_keys: str | None
    source: str


class PartitionersDocument(BaseModel):
    """What there is to choose from: partitioners, policies, and which client has which."""

    partitioners: list[PartitionerDocument]
    null_key_policies: list[NullKeyPolicyDocument]
    clients: list[ClientDocument]


@router.get(
    "/partitioners",
    operation_id="list_partitioners",
    summary="List the partitioners, and which client uses which",
    dependencies=[Security(principal, scopes=["read"])],
    responses=responses(),
)
def list_partitioners() -> PartitionersDocument:
    """Give every partitioner by its name, every policy for records without key, and each client library's default by
    version: what a form offers to choose from.
    """
    return PartitionersDocument(
        partitioners=[
            PartitionerDocument(
                name=one.name, summary=one.summary, null_keys=one.null_keys, empty_is_null=one.empty_is_null
            )
            for one in PARTITIONERS.values()
        ],
        null_key_policies=[
            NullKeyPolicyDocument(name=policy.name, summary=policy.summary) for policy in NULL_KEY_POLICIES.values()
        ],
        clients=[
            ClientDocument(
                client=client.library,
                language=client.language,
                versions=client.versions,
                since=client.since,
                until=client.until,
                partitioner=client.partitioner,
                null_keys=PARTITIONERS[client.partitioner].null_keys,
                source=client.source,
            )
            for client in CLIENTS
        ],
    )


@router.post(
    "/partitions",
    operation_id="place_keys",
    summary="Say which partition each key goes to",
    dependencies=[Depends(json_only)],
    response_model=KeysDocument,
    responses=responses(
        errors.MalformedKey,
        errors.InvalidPartitions,
        errors.UnknownPartition,
        errors.DuplicatePartition,
        errors.ConflictingFields,
        errors.QueueSizesOverflow,
        errors.LimitExceeded,
        errors.UnsupportedMediaType,
        errors.IdempotencyKeyInFlight,
    ),
)
def place_keys(
    once: OnceOnly,
    limits: RequestLimits,
    body: Annotated[PlaceKeysRequest, Body(openapi_examples=examples.KEYS_REQUEST)],
) -> Response:
    """Place keys as one client or several would: the partition of each key, how uneven that is, which keys another
    partition count moves (next to what a uniform hash expects), and where clients disagree. The same request gets the
    same answer, byte for byte, records without key included.
    """

    def answer() -> Response:
        return Response(keys.to_json(keys.place_keys(body.service(), limits)), media_type="application/json")

    return once(answer)
