"""The recipes with code of docs/extending.md, applied to a copy of the source as they are written."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.documents import Document
from tests.test_map import wrong_names

RECIPES = dict(
    zip(
        ("field", "objective", "export", "page", "source"),
        (text for kind, text in Document(ROOT / "docs" / "extending.md").blocks if kind == "diff"),
        strict=True,
    )
)
"""The diff of each recipe, in the order of the document."""
RUN = """
import asyncio
import dataclasses
import json
from uuid import UUID

import httpx
import numpy as np
from fastapi import FastAPI

from app.api.forms import FormRequests
from app.services.reassignment import READER, ReassignmentRequest
from app.core.model import Broker, Cluster, Topic
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload
from app.main import create_app
from app.services.limits import Limits
from app.services.plans import FORMATS, draft_plan
from app.services.reassignment import PLAN_KIND, PLANNER
from app.store.database import Database
from app.web import console

def topic(name, *brokers):
    lists = np.array([brokers] * 4, np.int32)
    none = np.empty((4, 0), np.int32)
    return Topic(name, np.arange(4, dtype=np.int32), lists, lists[:, 0].copy(), lists, none, none, np.ones(4, np.int64))

brokers = tuple(Broker(i, f"r{i}") for i in (1, 2))
cluster = Cluster("c", brokers, (topic("a", 1, 2), topic("b", 1, 2)))
body = {"snapshot_id": str(UUID(int=0)), "add_brokers": [{"id": 3, "rack": "r3"}], "fixed_topics": ["b"]}
plans = [
    draft_plan(PLANNER, READER.validate_python(body | fixed), cluster, Limits())
    for fixed in ({}, {"fixed_topics": []})
]
leaders = {"leaders_only": True, "fixed_topics": ["b"], "balance": {"leaders": "tight", "leaders_by": "followers"}}
request = READER.validate_python({"snapshot_id": str(UUID(int=0)), **leaders})
by_followers = draft_plan(PLANNER, request, Cluster("c", brokers, (topic("a", 1, 2), topic("b", 1))), Limits())
inventory = assemble("c", [Upload("inventory broker 101 rack a\\ninventory broker 102 rack b\\n")]).cluster
pages = FastAPI()
pages.include_router(console.router(Database("postgresql://"), Limits(), FormRequests(Limits())))
async def answered(path):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(pages), base_url="http://rackplan") as client:
        return await client.get(path)

answer = asyncio.run(answered("/release"))
fields = sorted(field.name for field in dataclasses.fields(ReassignmentRequest))
formats = [f for f in FORMATS if f in PLAN_KIND.formats]
print(json.dumps({
    "requests": [plan.request for plan in plans],
    "moved": [
        [json.loads(line)["topic"] for line in PLAN_KIND.write(plan, "json_lines", lambda: cluster).splitlines()]
        for plan in plans
    ],
    "openapi": create_app().openapi(),
    "leaders": by_followers.answer["balance"]["leaders"],
    "racks": {broker.id: broker.rack for broker in inventory.brokers},
    "fields": fields,
    "formats": formats,
    "page": [answer.status_code, answer.text],
}))
"""


def files_after(recipe: str, folder: Path) -> dict[str, str]:
    """The files in a folder that a recipe makes or changes, by path; each hunk's lines are in its file exactly once."""
    files = {}
    for change in re.split(r"^(?=--- )", recipe, flags=re.MULTILINE)[1:]:
        [(before, path)] = re.findall(r"\A--- (\S+)\n\+\+\+ (\S+)\n", change)
        text = "" if before == "/dev/null" else (folder / before).read_text(encoding="utf-8")
        for hunk in change.split("@@\n")[1:]:
            lines = hunk.splitlines(keepends=True)
            old, new = ("".join(line[1:] for line in lines if line[0] in signs) for signs in (" -", " +"))
            assert before == "/dev/null" or text.count(old) == 1, f"{path} does not have once:\n{old}"
            text = text.replace(old, new, 1)
        files[path] = text
    return files


@pytest.mark.parametrize(("name", "most"), [("field", 3), ("objective", 2), ("export", 5), ("page", 5), ("source", 4)])
def test_a_recipe_fits_the_source_in_few_files(name: str, most: int) -> None:
    files = files_after(RECIPES[name], ROOT)
    assert len(files) <= most
    for path, text in files.items():
        if path.endswith(".py"):
            ast.parse(text)


@pytest.mark.long
def test_a_copy_with_all_recipes_has_all_that_they_add(tmp_path: Path) -> None:
    for folder in ("app", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "tests" / "api").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "api" / "test_access_matrix.py", tmp_path / "tests" / "api")
    changed = set()
    for recipe in RECIPES.values():
        for path, text in files_after(recipe, tmp_path).items():
            (tmp_path / path).write_text(text, encoding="utf-8")
            changed.add(path)
    run = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "RACKPLAN_DATABASE_URL": "postgresql://"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    fixed, free = seen["requests"]
    assert fixed["fixed_topics"] == ["b"]
    assert "fixed_topics" not in free
    assert [set(topics) for topics in seen["moved"]] == [{"a"}, {"a", "b"}]
    model = seen["openapi"]["components"]["schemas"]["PlanReassignmentRequest"]
    assert model["properties"]["fixed_topics"]["type"] == "array"
    export = seen["openapi"]["paths"]["/v1/plans/{plan_id}/export"]["get"]
    [formats] = [parameter["schema"] for parameter in export["parameters"] if parameter["name"] == "format"]
    assert "json_lines" in formats["enum"]
    assert "application/jsonl" in export["responses"]["200"]["content"]
    # Topic b, which broker 1 leads, has no followers; by count broker 2 would lead all of topic a.
    assert (seen["leaders"]["by"], seen["leaders"]["largest"], seen["leaders"]["changes"]) == ("followers", 2, 2)
    assert seen["racks"] == {"101": "a", "102": "b"}
    documented = Document(tmp_path / "docs" / "reassignment.md").table("field", "what")
    assert seen["fields"] == sorted(name for fields, _ in documented for name in re.findall(r"`(\w+)`", fields))
    documented = Document(tmp_path / "docs" / "execution.md").table("`format`", "file", "what")
    assert seen["formats"] == [name.strip("`") for name, _, _ in documented]
    assert seen["page"][0] == 200
    assert "<h1>Release " in seen["page"][1]
    for module in sorted(path for path in changed if re.fullmatch(r"app/.*\.py", path)):
        assert wrong_names((tmp_path / module).parent) == set()
