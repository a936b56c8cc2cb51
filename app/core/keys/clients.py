"""Default partitioner of each client library: the source of the docs and the API.

Many applications configure another one: `partitioner.class`, librdkafka's `partitioner`, `createPartitioner` … Bindings
of librdkafka have its default: confluent-kafka-python, -go and -dotnet, node-rdkafka, rust-rdkafka, php-rdkafka.

Not included: Kafka's first, Scala producer, which uses the hashCode of the key object and not its bytes.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Client:
    """A client library from one version to another.

    Parameters
    ----------
    since, until : the first and the last version with this default; None for the first and the current release.
    partitioner : a name in `PARTITIONERS`.
    source : a file of the library, an issue or a KIP.
    """

    library: str
    language: str
    since: str | None
    until: str | None
    partitioner: str
    source: str

    @property
    def versions(self) -> str:
        """The versions in words: `0.8.2 to 2.3`, `since 3.3`, `up to 0.9.0` or `all`."""
        if self.since is None:
            return "all" if self.until is None else f"up to {self.until}"
        return f"since {self.since}" if self.until is None else f"{self.since} to {self.until}"


CLIENTS: tuple[Client, ...] = (
    Client("kafka-clients", "Java", "0.8.2", "2.3", "murmur2_round_robin", "DefaultPartitioner"),
    Client("kafka-clients", "Java", "2.4", "3.2", "murmur2_sticky", "KIP-480"),
    Client(
        "kafka-clients",
        "Java",
        "3.3",
        None,
        "murmur2_adaptive",
        "KIP-794, BuiltInPartitioner; racks since 4.4, if enabled (KIP-1123)",
    ),
    Client("librdkafka", "C", None, "0.9.0", "random", "librdkafka pull request 548"),
    Client("librdkafka", "C", "0.9.1", None, "consistent_random", "librdkafka CONFIGURATION.md, rdkafka_msg.c"),
    Client("Sarama", "Go", None, None, "fnv1a_random", "partitioner.go, NewHashPartitioner"),
    Client("kafka-go", "Go", None, None, "round_robin", "writer.go: Writer.Balancer"),
    Client("franz-go", "Go", None, None, "murmur2_adaptive", "UniformBytesPartitioner; sticky at first, keys alike"),
    Client("kafka-python", "Python", "1.0", None, "murmur2_random_available", "kafka/partitioner/default.py"),
    Client("aiokafka", "Python", None, None, "murmur2_random_available", "aiokafka/partitioner.py"),
    Client("KafkaJS", "JavaScript", None, "1", "kafkajs_legacy", "KafkaJS issue 357"),
    Client("KafkaJS", "JavaScript", "2.0", None, "murmur2_round_robin", "KafkaJS pull request 1339"),
    Client("@platformatic/kafka", "JavaScript", None, None, "murmur2_unsigned", "platformatic/kafka issue 121"),
    Client("ruby-kafka", "Ruby", None, None, "crc32_random", "lib/kafka/partitioner.rb"),
    Client("KafkaEx", "Elixir", None, "0", "murmur2_unsigned", "KafkaEx issue 398, Partitioner.Legacy"),
    Client("KafkaEx", "Elixir", "1.0", None, "murmur2_random", "KafkaEx Producer.Partitioner.Default"),
    Client("Streamiz", "C#", None, "1.4", "consistent_random", "Streamiz issue 216"),
    Client("Streamiz", "C#", "1.5", None, "murmur2_random", "Streamiz issue 216"),
)
