"""Sends keys with librdkafka to a topic, as `main.go` does in Go: `librdkafka.py BOOTSTRAP TOPIC PARTITIONER`.

It is run by an interpreter with the packages in `requirements.txt`, which nothing else of the project needs.
"""

import base64
import sys

from confluent_kafka import Producer  # type: ignore[import-not-found] # it is in an environment of its own

bootstrap, topic, partitioner = sys.argv[1:]
partitions: dict[int, int] = {}
producer = Producer({"bootstrap.servers": bootstrap, "partitioner": partitioner})
keys = [base64.b64decode(line) for line in sys.stdin.read().split()]
for at, key in enumerate(keys):
    producer.produce(
        topic, key=key, value=b"1", on_delivery=lambda _, sent, at=at: partitions.update({at: sent.partition()})
    )
producer.flush(60)
sys.stdout.write("".join(f"{partitions[at]}\n" for at in range(len(keys))))
