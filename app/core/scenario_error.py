"""Why one scenario of a sweep has no figures: it fails alone, and its row says what happened."""

from dataclasses import dataclass

from app.errors import Failure, FieldPath, Json

UNEXPECTED = "unexpected_error"
"""The code of an error that no failure foresees."""


@dataclass(frozen=True, slots=True)
class ScenarioError:
    """Why a scenario has no figures."""

    code: str
    detail: str
    path: FieldPath = ()

    @classmethod
    def of(cls, error: Exception) -> "ScenarioError":
        """What an exception says; of one that nobody foresaw, its class and text."""
        if isinstance(error, Failure):
            return cls(error.code, error.detail, error.path)
        return cls(UNEXPECTED, f"{type(error).__name__}: {error}")

    def document(self) -> dict[str, Json]:
        """As rows keep it."""
        return {"code": self.code, "detail": self.detail, "path": list(self.path)}
