"""Laws of problems: a request is refused only if it is infeasible, and the reported conflict is irreducible."""

from tests.oracle import known_sets, log_dirs
from tests.oracle.bounds import cost_of, is_decided, with_limits
from tests.oracle.changes import without
from tests.oracle.examined import Examined
from tests.oracle.instances import engine_of
from tests.oracle.model import Model
from tests.oracle.service import plan

REJECTED_FOR_ITS_FORM = frozenset(
    [
        "brokers_without_rack",
        "conflicting_fields",
        "rates_missing",
        "sizes_missing",
        "unknown_rack",
        "invalid_replication_factor",
        "move_exceeds_batch_limit",
        "batches_out_of_disk",
        "cordoned_target",
        "pin_contradicted",
        "invalid_partitions",
        "unknown_broker",
        "broker_exists",
        "capacity_missing",
        "unknown_topic",
        "duplicate_broker",
        "no_log_dir_left",
        "offline_log_dir",
    ]
)
"""Problems that say nothing of optima."""
_SINGLE_CONSTRAINTS = frozenset(
    [
        "remove_brokers",
        "remove_racks",
        "forbid_brokers",
        "cordoned_brokers",
        "receivers",
        "rack_mode",
        "max_replicas_per_rack",
        "replication_factor",
        "fix_offline_replicas",
    ]
)
"""Constraints that are one field of the request, and can be stated alone."""


def problem(examined: Examined, model: Model) -> None:
    """A problem about feasibility, held to the exact model."""
    instance, document = examined.instance, examined.answer.document
    code = document["code"]
    is_documented = code in {"infeasible_reassignment", "budget_below_minimum", "infeasible_log_dirs"}
    examined.hold("problems are documented", is_documented, str(document), "any")
    if code == "budget_below_minimum" and model.is_certain and model.has_known_sizes:
        exact, budget = with_limits(instance, model), instance.request["max_moved_bytes"]
        least = exact.minimised(exact.moved(cost_of("bytes")))
        examined.hold("budgets that suffice are accepted", least is None or least > budget, f"{least} of {budget}")
    if code == "infeasible_log_dirs":
        log_dirs.conflict(examined, model)
    if code != "infeasible_reassignment":
        return
    if "conflict" in document:
        _irreducible(examined)
    if known_sets.is_decided(instance.request, model):
        least = known_sets.least_movement(model, instance.request)
        examined.hold("feasible requests are accepted", least is None, f"{document['detail']}: {least}")
    if is_decided(instance, model):
        is_feasible = with_limits(instance, model).minimised(0) is not None
        examined.hold("feasible requests are accepted", not is_feasible, document["detail"], engine_of(instance))


def _irreducible(examined: Examined) -> None:
    """Without any one of the named constraints, the others are feasible, or conflict with one that is not named."""
    instance, document = examined.instance, examined.answer.document
    named = {row["constraint"] for row in document["conflict"]}
    if not named <= _SINGLE_CONSTRAINTS:
        return
    for dropped in sorted(named & instance.request.keys()):
        answer = plan(instance.snapshot, without(instance.request, keep=named - {dropped}))
        conflict = {row["constraint"] for row in answer.document.get("conflict", ())}
        detail = f"{sorted(named)} without {dropped}: {answer.document.get('detail')}"
        is_smaller = answer.document.get("code") == "infeasible_reassignment" and conflict <= named
        examined.hold("conflicts are irreducible", not is_smaller, detail, "conflicts")
