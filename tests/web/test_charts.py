"""The process that draws charts: started by the first one, and ended when there is nothing to draw."""

import os
import re
import signal
from collections.abc import Iterator

import psutil
import pytest

from app.web.chart_process import ChartFailed, ChartProcess
from app.web.charts import SPECS, Theme, bars, fronts, heat_map, points, response, steps

SPEC = {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", **bars([{"x": "a", "y": 1}], x="name", y="count")}
ENDED_WITHIN_S = 60


@pytest.fixture
def engine() -> Iterator[ChartProcess]:
    """An engine of the test's own."""
    engine = ChartProcess()
    yield engine
    engine.close()


def test_pictures(engine: ChartProcess) -> None:
    """One process draws them all, and again after it is killed."""
    assert engine.pid is None
    assert engine.draw("svg", SPEC).startswith(b"<svg")
    first = engine.pid
    assert engine.draw("png", SPEC).startswith(b"\x89PNG")
    assert engine.pid == first is not None
    os.kill(first, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(first)], timeout=ENDED_WITHIN_S)
    assert engine.draw("svg", SPEC).startswith(b"<svg")


def test_what_cannot_be_drawn(engine: ChartProcess) -> None:
    """The process stays for the next chart."""
    with pytest.raises(ChartFailed):
        engine.draw("svg", {"mark": 7})
    first = engine.pid
    assert engine.draw("svg", SPEC).startswith(b"<svg")
    assert engine.pid == first


def test_data_of_other_hosts_is_not_loaded(engine: ChartProcess) -> None:
    with pytest.raises(ChartFailed):
        engine.draw("svg", {**SPEC, "data": {"url": "http://127.0.0.1:9/data.json"}})


@pytest.mark.long
def test_it_ends_when_it_is_idle() -> None:
    engine = ChartProcess(idle_s=0.1)
    before = {*psutil.Process().children()}
    engine.draw("svg", SPEC)
    _, left = psutil.wait_procs({*psutil.Process().children()} - before, timeout=ENDED_WITHIN_S)
    assert not left
    assert engine.draw("svg", SPEC).startswith(b"<svg")
    engine.close()


def test_a_chart_that_takes_too_long_is_given_up() -> None:
    engine = ChartProcess(drawn_within_s=0.01)
    with pytest.raises(ChartFailed, match="has ended with status -9"):
        engine.draw("svg", SPEC)
    assert engine.pid is None


def test_every_named_mark_of_a_picture_has_a_label() -> None:
    """Also a chart without the line of a Pareto front: an empty line has no label."""
    rows = [{"x": 1.0, "y": 2.0, "series": "scenario", "front": None}]
    picture = bytes(response(points(rows, x="x", y="y", tooltips={}), "svg").body).decode()
    symbols = re.findall(r'<[^>]*role="graphics-symbol"[^>]*>', picture)
    assert len(symbols) == 3
    assert [symbol for symbol in symbols if "aria-label=" not in symbol] == []


@pytest.mark.parametrize("is_joined", [False, True])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_two_studies_have_one_legend_in_the_colours_of_their_points(theme: Theme, is_joined: bool) -> None:
    rows = [{"x": x, "y": 9 - x, "series": "AB"[x % 2]} for x in range(4)]
    drawn = fronts(rows, x="x", y="y", tooltips={}, joined=is_joined)
    picture = bytes(response(drawn, "svg", theme=theme).body).decode()
    symbols = re.findall(r'role-legend-symbol".*?fill="([^"]*)"', picture)
    assert symbols == SPECS["colours"][theme]["series"][:2]


def test_a_heat_map_begins_at_the_ground_of_its_theme() -> None:
    """No cell of a dark page is nearly white: shades go from the colour of lines to that of marks."""
    cells = [{"x": "a", "y": str(number), "value": number} for number in (1, 2)]
    drawn = heat_map(cells, x="x", y="y", value="v", order=["1", "2"], name="v")
    for theme in ("light", "dark"):
        picture = bytes(response(drawn, "svg", theme=theme).body).decode()
        red, green, blue = (int(SPECS["colours"][theme]["line"][at : at + 2], 16) for at in (1, 3, 5))
        assert f"rgb({red}, {green}, {blue})" in picture


def test_the_legend_of_a_heat_map_has_the_unit_of_its_figure() -> None:
    cells = [{"x": "a", "y": str(number), "value": number * 2.0**34} for number in (1, 2, 3)]
    drawn = heat_map(cells, x="x", y="y", value="mean moved bytes", order=["1", "2", "3"], name="moved_bytes")
    assert re.search(r">[0-9.]+ GB<", bytes(response(drawn, "svg").body).decode())


def test_the_axis_of_a_short_history_tells_its_times_apart() -> None:
    """Within a minute the seconds are shown; no time is written twice."""
    rows = [{"x": f"2026-11-28T09:45:{second:02}Z", "y": second, "series": "offline"} for second in (1, 20, 39, 58)]
    picture = bytes(response(steps(rows, y="partitions"), "svg").body).decode()
    times = re.findall(r">(\d\d:\d\d(?::\d\d)?)<", picture)
    assert len(times) >= 3
    assert len(set(times)) == len(times)
