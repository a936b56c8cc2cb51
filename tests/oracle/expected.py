"""Disagreements that are expected for now, by the part of the service that is to be mended.

Each row is a strict expected failure of `test_oracle.py`: its instances have to disagree today. A row is deleted when
the part is mended; without the row, one disagreement of its laws fails the tests.
"""

from dataclasses import dataclass

from tests.oracle.examined import Disagreement

OPTIMA = frozenset(
    {
        "moved is the exact least",
        "names and order do not matter",
        "the planned cluster stays as it is",
        "the planned leaders stay",
        "a wider tolerance costs no more",
        "a higher limit costs no more",
        "one constraint less costs no more",
    }
)
"""Laws that a search without a proof breaks."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Laws of an engine that are broken, and the reason."""

    engine: str
    laws: frozenset[str]
    reason: str

    def has(self, disagreement: Disagreement) -> bool:
        """Whether a disagreement is one of these."""
        return disagreement.engine == self.engine and disagreement.law in self.laws


EXPECTED = (
    Expected(
        "goals",
        OPTIMA,
        "core/reassignment/goals: goals of one priority over loads above 2^44 bytes are not always proven in time",
    ),
    Expected(
        "loads",
        OPTIMA | {"the largest load is the exact least"},
        "core/reassignment/goals: 12 partitions on 7 brokers are not always proven in time, and move again",
    ),
)


def is_expected(disagreement: Disagreement) -> bool:
    """Whether any row has it."""
    return any(row.has(disagreement) for row in EXPECTED)
