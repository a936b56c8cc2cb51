"""How many examples each law is tested with: the usual number, a twentieth or ten times as many.

`make test-fast` takes a twentieth and leaves out slow tests. `make test` leaves out the long ones and takes a fifth of
the examples of costly laws and of long sweeps of seeds; `make test-long` runs both, with the others. `make
test-thorough` runs all with ten times as many examples.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

STARTS_SOMETHING = {"postgres", "start_worker", "run_service", "spark", "installation", "compiled", "shared", "serve"}
"""Fixtures that start Postgres, a service, a worker, a JVM or a compilation; most tests of `tests/api` have one."""
_USUAL_EXAMPLES = 100
_COSTLY_SHARE = 0.2
"""Share of the examples of a costly law that `make test` runs."""
_Law = TypeVar("_Law", bound=Callable[..., None])
_LEFT_OUT = pytest.StashKey[Counter[tuple[str, str]]]()


def register() -> None:
    """Register the profiles of Hypothesis: `default`, `ci`, whose draws are the same each time, and those for targets.

    Hypothesis itself chooses one of the first two, `ci` in CI, and the profiles of targets repeat their draws if that
    does. Machines are noisy: an example that takes long is no failure, and the first one may load compiled loops.
    """
    chosen = settings.get_current_profile_name()
    for name in ("default", "ci"):
        parent = settings.get_profile(name)
        settings.register_profile(name, parent, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    usual = settings.get_profile(chosen if chosen == "ci" else "default")
    settings.register_profile("fast", usual, max_examples=_USUAL_EXAMPLES // 20)
    settings.register_profile("thorough", usual, max_examples=10 * _USUAL_EXAMPLES)
    settings.register_profile("long", usual)
    settings.load_profile(chosen)


def is_thorough() -> bool:
    """Whether the run takes the time for every example and every long run."""
    return settings().max_examples > _USUAL_EXAMPLES


def examples(count: int) -> settings:
    """So many examples of a law in the usual profile, and as many more or fewer in another as it has."""
    return settings(max_examples=max(1, count * settings().max_examples // _USUAL_EXAMPLES))


def costly(count: int = _USUAL_EXAMPLES) -> Callable[[_Law], _Law]:
    """A law whose examples take seconds: `make test` takes some of them, and `make test-long` the others.

    How many of the first meet its premises is not judged: `make test-long` does so.
    """
    chosen = examples(math.ceil(count * _share_of_costly()))

    def mark(law: _Law) -> _Law:
        marked: _Law = pytest.mark.costly(chosen(law))
        return marked

    return mark


def a_fifth(values: Iterable[Any]) -> list[Any]:
    """Values of a parameter: `make test` takes every fifth one from the first on, `make test-long` the others."""
    every = math.ceil(1 / _COSTLY_SHARE)
    return [pytest.param(one, marks=pytest.mark.long) if at % every else one for at, one in enumerate(values)]


def seeds(count: int) -> list[Any]:
    """Seeds of random instances from 0 on, of which `make test` takes a fifth."""
    return a_fifth(range(count))


def is_shortened(item: pytest.Item) -> bool:
    """Whether a test takes the smaller part of its examples."""
    return item.get_closest_marker("costly") is not None and _share_of_costly() == _COSTLY_SHARE


def _share_of_costly() -> float:
    if settings.get_current_profile_name() == "long":
        return 1 - _COSTLY_SHARE
    return _COSTLY_SHARE if settings().max_examples == _USUAL_EXAMPLES else 1


thorough = pytest.mark.thorough
"""A run of minutes, which `make test-thorough` adds."""


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that are long or start something of their own as slow, and skip the thorough ones unless wanted."""
    for item in items:
        if STARTS_SOMETHING & {*getattr(item, "fixturenames", ())} or item.get_closest_marker("long"):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker(thorough.name) and not is_thorough():
            item.add_marker(pytest.mark.skip(reason="a test of `make test-thorough`"))


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count tests that a selection leaves out, by target and file. One process of several reports it."""
    if not items:
        return
    config = items[0].config
    left_out = config.stash.setdefault(_LEFT_OUT, Counter())
    left_out.update((_target(item), item.nodeid.partition("::")[0]) for item in items)
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = dict(left_out)


def _target(item: pytest.Item) -> str:
    suite = "make test-kafka" if item.get_closest_marker("kafka") else "make test"
    return f"{suite}-long" if item.get_closest_marker("long") else suite


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Receive the counts of one of several processes; all of them select the same."""
    node.config.stash[_LEFT_OUT] = Counter(node.workeroutput.get("left_out", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """State tests that a selection left out, and how to run them: by file, unless only some tests were selected."""
    left_out = config.stash.get(_LEFT_OUT, Counter[tuple[str, str]]())
    if config.option.markexpr.startswith("not "):
        for (_, file), count in sorted(left_out.items()):
            terminalreporter.write_line(f"left out: {count:4} of {file}")
    counts: Counter[str] = Counter()
    for (target, _), count in left_out.items():
        counts[target] += count
    for target, count in sorted(counts.items()):
        terminalreporter.write_line(f"{count} tests were left out; `{target}` runs them")
    if settings().max_examples < _USUAL_EXAMPLES:
        terminalreporter.write_line("laws were tested with fewer examples; `make test` takes all")
