"""Keys placed: murmur2 and the remainder over Arrow's buffers, and a whole request beside the bare kernel."""

from collections.abc import Callable, Iterator
from functools import partial

import httpx
import numpy as np
import orjson
import pyarrow as pa

from app.core.keys.model import Keys
from app.core.keys.partitioners import PARTITIONERS, partition
from app.core.model import Int32s
from benchmarks import service
from benchmarks.measure import Floor, Result, interleaved
from benchmarks.service import Service

KEYS = 1_000_000
LENGTHS = (16, 32)
"""The shortest and the longest key, in bytes; every length between is as frequent."""
PARTITIONS = 48
RUNS = 25
TARGET_KEYS_PER_S = 63e6
"""What Kafka's own code does in a warm JVM, a thread."""

POSTED_KEYS = 100_000
POSTED_RUNS = 15
PATH = "/v1/keys/partitions"


def run() -> Iterator[Result]:
    """The kernel on one thread, then the operation."""
    yield _kernel()
    with service.running() as running:
        for partitioner in ("murmur2", "murmur2_adaptive"):
            yield _posted(running, partitioner)


def _kernel() -> Result:
    keys = arrow_keys(KEYS)

    def place() -> Int32s:
        return partition(PARTITIONERS["murmur2"], keys, PARTITIONS)

    copied = place()
    assert copied.shape == (KEYS,)
    # Every byte once, and a number a key: no hash does with less.
    words = keys.data[: len(keys.data) // 8 * 8].view(np.uint64)

    def floor() -> tuple[np.uint64, Int32s]:
        return np.bitwise_xor.reduce(words), copied.copy()

    times = interleaved({"place": place, "floor": floor}, runs=RUNS)
    return Result(
        name="place keys",
        parameters={"partitioner": "murmur2", "keys": KEYS, "key_bytes": list(LENGTHS), "partitions": PARTITIONS},
        times=times["place"],
        floor=Floor("reading every byte of the keys once and copying the result", times["floor"]),
        target_ms=KEYS / TARGET_KEYS_PER_S * 1000,
        facts={
            "threads": 1,
            "keys_per_s": round(KEYS / times["place"].median_ms * 1000),
            "kafka_warm_jvm_keys_per_s": round(TARGET_KEYS_PER_S),
        },
    )


def _posted(running: Service, partitioner: str) -> Result:
    """A request with every tenth record without key, which a partitioner with a policy then places."""
    keys = arrow_keys(POSTED_KEYS)
    texts = [None if index % 10 == 0 else (keys[index] or b"").hex()[:24] for index in range(POSTED_KEYS)]
    body = {"keys": texts, "partitioner": partitioner, "partitions": PARTITIONS, "null_keys": {"seed": 42}}
    post: Callable[[], bytes] = partial(_post, running.client, orjson.dumps(body))
    calls: dict[str, Callable[[], object]] = {
        "post": post,
        "kernel": lambda: partition(PARTITIONERS[partitioner], keys, PARTITIONS),
    }
    answer_bytes = len(post())
    times = interleaved(calls, runs=POSTED_RUNS)
    return Result(
        name=f"POST {PATH}",
        parameters={"partitioner": partitioner, "keys": POSTED_KEYS, "partitions": PARTITIONS},
        times=times["post"],
        floor=Floor("the bare kernel over as many keys", times["kernel"]),
        is_in_process=False,
        facts={"answer_bytes": answer_bytes},
    )


def arrow_keys(count: int) -> Keys:
    """Random bytes as an Arrow binary array keeps them, looked at where they lie."""
    random = np.random.default_rng(1)
    lengths = random.integers(LENGTHS[0], LENGTHS[1] + 1, count)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    data = random.integers(0, 256, int(offsets[-1]), dtype=np.uint8)
    array = pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    _, offset_buffer, data_buffer = array.buffers()
    return Keys(np.frombuffer(data_buffer, np.uint8), np.frombuffer(offset_buffer, np.int32, count + 1))


def _post(client: httpx.Client, body: bytes) -> bytes:
    response = client.post(PATH, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == httpx.codes.OK, response.text
    return response.content
