"""`/v1/keys/partitions`: which key goes to which partition, in which client."""

from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Body, Depends, Response
from pydantic import AfterValidator, BaseModel, Field

from app import errors
from app.api import examples
from app.api.dependencies import json_only
from app.api.fields import Int32
from app.api.fields import Request as RequestModel
from app.api.idempotency import OnceOnly
from app.api.problems import responses
from app.core.keys.agreement import Disagreement
from app.core.keys.partitioners import PARTITIONERS, WITHOUT_KEY
from app.core.keys.resize import Resize
from app.services import keys
from app.services.keys import Encoding, KeysAnswer, KeysRequest

router = APIRouter(prefix="/v1/keys", tags=["keys"])


def _known(name: str) -> str:
    if name not in PARTITIONERS:
        raise ValueError(f"there is no partitioner {name}; there are {', '.join(PARTITIONERS)}")
    return name


# The registry decides: its names are the enum of the document.
PartitionerName = Annotated[str, AfterValidator(_known), Field(json_schema_extra={"enum": list(PARTITIONERS)})]
MOST_PARTITIONS = 1_000_000
Count = Annotated[Int32, Field(le=MOST_PARTITIONS, json_schema_extra={"minimum": 1})]


class PlaceKeysRequest(RequestModel):
    """Keys, and what places them. A key that is null is a record without key."""

    keys: Annotated[list[str | int | None], Field(min_length=1)]
    encoding: Literal["utf8", "base64", "int32", "int64"] = Field(
        "utf8", description="Numbers are hashed as Java's serialisers write them: big-endian."
    )
    partitioner: (
        PartitionerName | Annotated[list[PartitionerName], Field(min_length=1, max_length=len(PARTITIONERS))]
    ) = Field("murmur2", description="; ".join(f"`{one.name}`: {one.summary}" for one in PARTITIONERS.values()))
    partitions: Count
    compare_partitions: Annotated[list[Count], Field(max_length=32)] = Field(
        default_factory=list, description="Other partition counts: how many keys change partition."
    )

    def service(self) -> KeysRequest:
        """As the service knows it."""
        names = [self.partitioner] if isinstance(self.partitioner, str) else list(dict.fromkeys(self.partitioner))
        return KeysRequest(self.keys, Encoding(self.encoding), names, self.partitions, self.compare_partitions)


class SkewDocument(BaseModel):
    """How uneven the keys lie. `gini` is 0 where all partitions have the same, and near 1 where one has all."""

    per_partition: list[int]
    max_over_mean: float
    gini: float


class PlacedKeysDocument(BaseModel):
    """One partitioner's answer; null where the record has no key for it and goes by the policy `null_keys`."""

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
    """What every partitioner makes of the keys, and where they differ."""

    keys: int
    partitions: int
    partitioners: list[PlacedKeysDocument]
    heaviest_keys: list[HeavyKeyDocument]
    disagreements: list[Disagreement]


@router.post(
    "/partitions",
    operation_id="place_keys",
    summary="Say which partition each key goes to",
    dependencies=[Depends(json_only)],
    response_model=KeysDocument,
    responses=responses(
        errors.MalformedKey, errors.InvalidPartitions, errors.UnsupportedMediaType, errors.IdempotencyKeyInFlight
    ),
)
def place_keys(
    once: OnceOnly, body: Annotated[PlaceKeysRequest, Body(openapi_examples=examples.KEYS_REQUEST)]
) -> Response:
    """Place keys as one client or several would: the partition of each key, how uneven that is, which keys another
    partition count moves (next to what a uniform hash expects), and where clients disagree.
    """

    def answer() -> Response:
        document = orjson.dumps(_document(keys.place_keys(body.service())), option=orjson.OPT_SERIALIZE_NUMPY)
        return Response(document, media_type="application/json")

    return once(answer)


def _document(found: KeysAnswer) -> dict[str, object]:
    return {
        "keys": found.keys,
        "partitions": found.partitions,
        "partitioners": [
            {
                "partitioner": one.partitioner,
                "partition_by_key": [None if p == WITHOUT_KEY else p for p in one.partition_by_key.tolist()],
                "without_key": one.without_key,
                "null_keys": one.null_keys,
                "skew": one.skew,
                "resizes": one.resizes,
            }
            for one in found.placed
        ],
        "heaviest_keys": [
            {"first_index": heavy.first_index, "weight": heavy.weight, "share": heavy.share}
            for heavy in found.heaviest_keys
        ],
        "disagreements": found.disagreements,
    }
