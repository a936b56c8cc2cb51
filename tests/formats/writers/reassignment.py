"""Output of `kafka-reassign-partitions --generate`."""

from app.formats.kafka_files.reassignment import CURRENT, PROPOSED, Reassignment, write


def write_generated(current: Reassignment, proposed: Reassignment) -> str:
    """Print both documents as `--generate` does."""
    return f"{CURRENT}\n{write(current)}\n{PROPOSED}\n{write(proposed)}"
