"""The number of standbys in the assignor's settings."""

import re
from collections.abc import Mapping

from app.core.model import INT32_MAX
from app.errors.kafka import KafkaError
from tests.kafka_refusals import InvalidStandbyReplicas

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


STANDBYS = "num.standby.replicas"


def standby_replicas(configs: Mapping[str, str]) -> int:
    """The number of standbys in the assignor's settings as the coordinator gets them; 0 if there are none.

    Raises
    ------
    InvalidStandbyReplicas : if there are settings, and `num.standby.replicas` is missing or not a 32-bit integer.
    """
    text = configs.get(STANDBYS)
    if not configs:
        return 0
    if text is None or not _INTEGER.fullmatch(text) or not -INT32_MAX - 1 <= int(text) <= INT32_MAX:
        raise InvalidStandbyReplicas(
            f"{STANDBYS} is a 32-bit integer; {text!r} given",
            kafka=KafkaError("NumberFormatException"),
            path=("configs", STANDBYS),
            value=text,
        )
    return int(text)
