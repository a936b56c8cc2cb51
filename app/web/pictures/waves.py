"""A restart as a picture: brokers by wave, with the partitions that they lead and follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.web.pictures.rack_bars import Bars
from app.web.pictures.rack_columns import Rack, RackItem, by_place, lay_out
from app.web.pictures.rendering import STYLE, Picture, render
from app.web.words import counted

MOST_PANELS = 60
_PARTS = (("leaders", "leads"), ("followers", "follows"))


@dataclass(frozen=True, slots=True)
class RestartedBroker:
    """A broker, the number of its wave, and the partitions that it leads and has before the restart."""

    id: int
    wave: int
    leaders: int
    replicas: int

    @property
    def counts(self) -> tuple[int, int]:
        """Leaders and followers."""
        return self.leaders, self.replicas - self.leaders


@dataclass(frozen=True, slots=True, eq=False)
class WavesPicture:
    """The contents of a picture. `facts` are sentences; `brokers` are in the order of waves."""

    title: str
    facts: Sequence[str]
    brokers: Sequence[RestartedBroker] = field(repr=False)


def draw(picture: WavesPicture, *, style: str = STYLE) -> str:
    """Draw a restart; `style` are rules that become the document's own, none if the page has them."""
    legend: list[tuple[str, Mapping[str, str]]] = [(words, {"class_": look}) for words, look in _PARTS]
    bars = Bars(
        noun="broker",
        looks=tuple(look for _, look in _PARTS),
        summed=_summed,
        named=lambda items: counted(sum(one.stands_for for one in items), "broker"),
        highest=max((broker.replicas for broker in picture.brokers), default=0),
        even_shares=(),
    )
    return render(Picture(picture.title, picture.facts, legend, lay_out(_panels(picture)), bars), style=style)


def _panels(picture: WavesPicture) -> list[Rack]:
    width = len(str(max((broker.wave for broker in picture.brokers), default=1)))
    brokers = [(str(broker.id), f"wave {broker.wave:0{width}}", broker) for broker in picture.brokers]
    return by_place(brokers, column=_column, most=MOST_PANELS, more="more", without="")


def _column(brokers: Sequence[tuple[str, RestartedBroker]]) -> RackItem:
    leaders, followers = (sum(column) for column in zip(*(one.counts for _, one in brokers), strict=True))
    split = f"{counted(leaders, 'leader')}, {counted(followers, 'follower')}"
    (name, first), (_, last) = brokers[0], brokers[-1]
    if len(brokers) == 1:
        return RackItem(name, f"broker {first.id}, wave {first.wave}: {split}", (leaders, followers))
    loads = [one.replicas for _, one in brokers]
    tooltip = f"brokers {first.id} to {last.id}: {split} in all"
    counts = (leaders, followers)
    return RackItem(f"{name} …", tooltip, counts, stands_for=len(brokers), least=min(loads), most=max(loads))


def _summed(items: Sequence[RackItem]) -> tuple[str, ...]:
    leaders = sum(one.counts[0] for one in items)
    return f"{counted(leaders, 'leader')} in all", f"{leaders:,}"
