"""Webhooks: subscriptions of URLs to events, and signed deliveries that are repeated until they succeed.

attempts.py      the signature of an attempt, the schedule of attempts, and the meaning of answers; create, ping, replay
"""

from app.services.webhooks.attempts import (
    LONGEST_PAUSE,
    Answer,
    Attempt,
    Registration,
    begin,
    create,
    ping,
    record,
    replay,
    signed_headers,
)
