"""An answer and its disagreements.

A disagreement has a kind, `law / engine`: the engine is the part of the documentation that the request is about.
"""

from dataclasses import dataclass, field

from tests.oracle.instances import Instance, engine_of
from tests.oracle.service import Answer


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer that breaks a law."""

    law: str
    engine: str
    detail: str

    @property
    def kind(self) -> str:
        """The expectation of a failure."""
        return f"{self.law} / {self.engine}"


@dataclass(slots=True)
class Examined:
    """An instance, the answer, and every disagreement; `compared` are the laws that the answer was held to."""

    instance: Instance
    answer: Answer
    disagreements: list[Disagreement] = field(default_factory=list)
    compared: set[str] = field(default_factory=set)

    def hold(self, law: str, is_kept: bool, detail: str, engine: str | None = None) -> None:
        """Note that a law was compared, and a disagreement if it is broken."""
        self.compared.add(law)
        if not is_kept:
            self.disagreements.append(Disagreement(law, engine or engine_of(self.instance), detail))
