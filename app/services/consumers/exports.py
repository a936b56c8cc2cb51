"""Consumers over time as files: tables, triggers of KEDA, and CronJobs that set the minimum of an autoscaler."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Any

from app.formats.tables import topic_tables
from app.services.plans import Write
from app.services.plans.exports import filled

_CRON_JOB, _SCALED_OBJECT = map(Path(__file__).with_name, ("cron_job.yaml", "scaled_object.yaml"))
_COLUMNS = ("consumers", "lower_bound", "bytes_per_s", "moved_bytes_per_s", "moved_lower_bound", "lost_bytes_per_s")
_DAYS = 86_400


def _csv(answer: Any) -> bytes:
    rows = (topic_tables.csv_row(each["from"], *(str(each[name]) for name in _COLUMNS)) for each in answer["intervals"])
    return topic_tables.write_csv(("from", *_COLUMNS), rows)


def _schedule(answer: Any) -> bytes:
    return "".join(f"{step['from']} {step['consumers']}\n" for step in answer["schedule"]).encode()


def _cron(moment: datetime, span_s: float) -> str:
    """The times of cron in UTC: every day if the plan is of a day, every week if of a week, else every year."""
    days = (
        "* * *"
        if span_s <= _DAYS
        else f"* * {moment.isoweekday() % 7}"
        if span_s <= 7 * _DAYS
        else f"{moment:%-d %-m} *"
    )
    return f"{moment.minute} {moment.hour} {days}"


def _steps(answer: Any) -> Iterator[tuple[str, str, int]]:
    """From when until when the plan has how many consumers, as times of cron in whole minutes."""
    span_s = len(answer["intervals"]) * answer["step_s"]
    end = datetime.fromisoformat(answer["intervals"][0]["from"]) + timedelta(seconds=span_s)
    moments = [*(datetime.fromisoformat(step["from"]) for step in answer["schedule"]), end]
    for step, begin, until in zip(answer["schedule"], moments, moments[1:], strict=False):
        whole = until + timedelta(minutes=ceil(until.second / 60), seconds=-until.second)
        yield _cron(begin, span_s), _cron(whole, span_s), step["consumers"]


def _keda(answer: Any, name: str) -> bytes:
    counts = [step["consumers"] for step in answer["schedule"]]
    row = '    - {{type: cron, metadata: {{timezone: Etc/UTC, start: "{}", end: "{}", desiredReplicas: "{}"}}}}'
    triggers = "\n".join(row.format(*step) for step in _steps(answer))
    return filled(_SCALED_OBJECT, name=name, least=min(counts), most=max(counts), triggers=triggers).encode()


def _hpa(answer: Any, name: str) -> bytes:
    return "---\n".join(
        filled(_CRON_JOB, job=f"{name[:43]}-{number}", name=name, times=begin, consumers=count)
        for number, (begin, _, count) in enumerate(_steps(answer), 1)
    ).encode()


EXPORTS: Mapping[str, Write] = {
    "csv": lambda plan, _: _csv(plan.head.answer),
    "schedule": lambda plan, _: _schedule(plan.head.answer),
    "keda": lambda plan, _: _keda(plan.head.answer, str(plan.head.request["workload"])),
    "hpa": lambda plan, _: _hpa(plan.head.answer, str(plan.head.request["workload"])),
}
"""The formats of consumers over time."""
