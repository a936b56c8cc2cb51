"""Reports of a gate for pipelines: JUnit's XML, and SARIF 2.1.0 for code scanning.

Source: "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", OASIS.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree as ET

import orjson

from app import __version__
from app.core.measures.violations import VIOLATIONS
from app.errors import Json
from app.errors.quotation import escaped
from app.services.checks import MEASURES, Check, Differences, Outcome

_LEVELS = {"illegal": "error", "fragile": "warning"}


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file that states a topic."""

    file: str
    line: int = 1

    def as_json(self, topic: str | None) -> Json:
        """The location of a result."""
        region: Json = {"startLine": self.line}
        physical: Json = {"artifactLocation": {"uri": self.file}, "region": region}
        logical: dict[str, Json] = {} if topic is None else {"logicalLocations": [{"name": topic, "kind": "topic"}]}
        return {"physicalLocation": physical, **logical}


def junit(cluster: str, outcomes: list[Outcome], reasons: list[str]) -> bytes:
    """A test suite of JUnit's XML with a test case for each condition. reasons : of a condition that fails."""
    failures = [outcome for outcome in outcomes if outcome.fails]
    suite = ET.Element("testsuite", name="rackplan check", tests=str(len(outcomes)), failures=str(len(failures)))
    for outcome in outcomes:
        case = ET.SubElement(suite, "testcase", classname=f"rackplan.{escaped(cluster)}", name=outcome.condition.text)
        if outcome.fails:
            message = f"{outcome.condition.name} is {outcome.value:g}"
            ET.SubElement(case, "failure", message=message).text = escaped("\n".join(reasons), keep="\n")
    ET.indent(suite)
    document: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def sarif(
    check: Check, differences: Differences | None, outcomes: list[Outcome], places: Mapping[str, Place], default: Place
) -> bytes:
    """A run of SARIF: a result for each violation, difference, warning, and condition that fails.

    Parameters
    ----------
    places : of topics. default : of results about no topic, or about one without a place.
    """

    def result(rule: str, level: str, text: str, topic: str | None = None) -> dict[str, Json]:
        place = default if topic is None else places.get(topic, default)
        message: Json = {"text": escaped(text)}
        return {"ruleId": rule, "level": level, "message": message, "locations": [place.as_json(topic)]}

    def results() -> Iterator[dict[str, Json]]:
        for outcome in outcomes:
            if outcome.fails:
                condition = outcome.condition
                yield result(condition.name, "error", f"{condition.text}: {condition.name} is {outcome.value:g}")
        for found in check.violations:
            yield result(found.code, _LEVELS[found.severity], found.detail, found.topic)
        for one in () if differences is None else differences.differences:
            yield result("difference", "warning", f"{one.topic}: {one.detail}", one.topic)
        for caution in check.cautions:
            yield result(caution.code, "note", caution.detail)

    listed = list(results())
    meanings = dict(MEASURES) | dict(VIOLATIONS["placement"])
    rules: list[Json] = [
        {"id": rule, "shortDescription": {"text": meanings.get(rule, rule)}}
        for rule in sorted({str(each["ruleId"]) for each in listed})
    ]
    driver: Json = {"name": "rackplan", "version": __version__, "rules": rules}
    run: Json = {"tool": {"driver": driver}, "results": list[Json](listed)}
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
