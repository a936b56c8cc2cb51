"""What a caller should know although it did not stop the answer: the contract's `warnings`."""

from dataclasses import dataclass

from app.errors import Json


@dataclass(frozen=True, slots=True)
class Caution:
    """One entry of an answer's `warnings`. `code` is stable; `brokers` names those it is about, if any."""

    code: str
    detail: str
    brokers: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """As the contract writes it: `brokers` only where there are some."""
        return {"code": self.code, "detail": self.detail} | ({"brokers": self.brokers} if self.brokers else {})
