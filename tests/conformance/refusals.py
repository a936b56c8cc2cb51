"""A refusal as the vectors write it."""

from collections.abc import Callable, Mapping
from typing import Any

from app.errors.kafka import KafkaRefuses


def attempt(answer: Callable[[Mapping[str, Any]], Any], given: Mapping[str, Any]) -> Any:
    """The answer, or the exception that Kafka would throw as `{"error", "message"}`."""
    try:
        return answer(given)
    except KafkaRefuses as refusal:
        return {"error": refusal.kafka.exception, "message": refusal.kafka.message}
