"""Output of `kafka-reassign-partitions --generate`."""

from app.formats.kafka_files.reassignment import CURRENT, PROPOSED, Generated, write


def write_generated(generated: Generated) -> str:
    """Print both documents as `--generate` does."""
    return f"{CURRENT}\n{write(generated.current)}\n{PROPOSED}\n{write(generated.proposed)}"
