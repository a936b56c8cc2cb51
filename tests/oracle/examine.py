"""An instance's answer, held to every law."""

from contextlib import suppress

from tests.oracle.batches import batches
from tests.oracle.bounds import certificate, movement
from tests.oracle.exact import NotSolved
from tests.oracle.examined import Examined
from tests.oracle.instances import Instance
from tests.oracle.known_sets import known_sets
from tests.oracle.leaders import fewest_changes, roles
from tests.oracle.legality import legality, lists_after, values
from tests.oracle.log_dirs import log_dirs
from tests.oracle.model import read
from tests.oracle.problems import REJECTED_FOR_ITS_FORM, problem
from tests.oracle.repetitions import repetitions
from tests.oracle.service import plan
from tests.oracle.topics import topic_bands
from tests.oracle.traffic import traffic


def examine(instance: Instance) -> Examined:
    """The answer to an instance, with every disagreement."""
    answer = plan(instance.snapshot, instance.request, with_files=True)
    examined = Examined(instance, answer)
    if answer.document.get("code") in REJECTED_FOR_ITS_FORM:
        return examined
    model = read(instance.snapshot, instance.request)
    if answer.status != 200:
        with suppress(NotSolved):
            problem(examined, model)
        return examined
    after = lists_after(instance, answer.document)
    legality(examined, model, after)
    values(examined, model, after)
    batches(examined, model, after)
    certificate(examined)
    for of_optima in (movement, fewest_changes):
        with suppress(NotSolved):
            of_optima(examined, model, after)
    with suppress(NotSolved):
        topic_bands(examined, model)
    known_sets(examined, model, after)
    traffic(examined, model, after)
    roles(examined, model, after)
    log_dirs(examined, model, after)
    repetitions(examined, model, after)
    return examined
