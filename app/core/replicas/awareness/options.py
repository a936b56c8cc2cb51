"""The options of awareness: the policy, the attributes in their order, and forced values."""

from app.core.replicas.awareness.placing import Aware
from app.core.replicas.awareness.policies import POLICIES
from app.core.replicas.awareness.rules import Policy, Rules
from app.core.replicas.options import Option, OptionSet, OptionValues
from app.errors import Json

_DEFAULT = Rules()


def _read(values: OptionValues) -> Rules:
    """Fill in the defaults and check. Raises as `Rules.check` does."""
    policy, attributes, forced = (values.get(name) for name in ("policy", "attributes", "forced"))
    rules = Rules(
        policy=_DEFAULT.policy if policy is None else Policy(policy),
        attributes=_DEFAULT.attributes if attributes is None else tuple(attributes),
        forced={name: tuple(listed) for name, listed in (forced or {}).items()},
    )
    rules.check()
    return rules


def _canonical(rules: Rules) -> dict[str, Json]:
    forced: dict[str, Json] = {name: rules.forced[name] for name in rules.attributes if name in rules.forced}
    return {"policy": rules.policy.value, "attributes": rules.attributes, "forced": forced}


OPTIONS = OptionSet(
    fields=(
        Option(
            "policy",
            "choice",
            "The placement policy; `spread` by default. "
            + "; ".join(f"`{policy.value}`: {rule.summary} ({rule.source})" for policy, rule in POLICIES.items()),
            choices=tuple(policy.value for policy in Policy),
        ),
        Option(
            "attributes",
            "names",
            "The broker attributes to spread over, the most important first; `rack` by default.",
        ),
        Option(
            "forced",
            "values_by_name",
            "By attribute, the values that are expected: the share of a value without a live broker is not assigned. "
            "For the policy `forced` alone.",
        ),
    ),
    read=_read,
    canonical=_canonical,
    follow=Aware,
    rack_mode_conflict="awareness treats racks as any other attribute and has no rack mode",
)
