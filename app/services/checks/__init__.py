"""Verify a reassignment of any origin.

verification.py   legality, measures, movement and freshness
minimum.py        the least movement that reaches the same end
"""

from app.services.checks.minimum import Minimum, minimum_for
from app.services.checks.verification import Check, check
