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
        ("field", "export", "page"),
        (text for kind, text in Document(ROOT / "docs" / "extending.md").blocks if kind == "diff"),
        strict=True,
    )
)
"""The diff of each recipe, in the order of the document."""
RUN = """
import asyncio
import json
from uuid import UUID

import httpx
import numpy as np
from fastapi import FastAPI

from app.api.forms import FormRequests
from app.api.reassignment import PlanReassignmentRequest
from app.core.model import Broker, Cluster, Topic
from app.main import create_app
from app.services.limits import Limits
from app.services.plans import FORMATS, draft_plan
from app.services.reassignment import PLAN_KIND, PLANNER
from app.store.database import Database
from app.web import console

def topic(name):
    lists = np.array([[1, 2]] * 4, np.int32)
    none = np.empty((4, 0), np.int32)
    return Topic(name, np.arange(4, dtype=np.int32), lists, lists[:, 0].copy(), lists, none, none, np.ones(4, np.int64))

cluster = Cluster("c", tuple(Broker(i, f"r{i}") for i in (1, 2)), (topic("a"), topic("b")))
body = {"snapshot_id": str(UUID(int=0)), "add_brokers": [{"id": 3, "rack": "r3"}], "fixed_topics": ["b"]}
plans = [
    draft_plan(PLANNER, PlanReassignmentRequest.model_validate(body | fixed).service(), cluster, Limits())
    for fixed in ({}, {"fixed_topics": []})
]
pages = FastAPI()
pages.include_router(console.router(Database("postgresql://"), Limits(), FormRequests(Limits())))
async def answered(path):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(pages), base_url="http://rackplan") as client:
        return await client.get(path)

answer = asyncio.run(answered("/release"))
fields, formats = sorted(PlanReassignmentRequest.model_fields), [f for f in FORMATS if f in PLAN_KIND.formats]
print(json.dumps({
    "requests": [plan.request for plan in plans],
    "moved": [
        [json.loads(line)["topic"] for line in PLAN_KIND.write(plan, "json_lines", lambda: cluster).splitlines()]
        for plan in plans
    ],
    "openapi": create_app().openapi(),
    "fields": fields,
    "formats": formats,
    "page": [answer.status_code, answer.text],
}))
"""


def files_after(recipe: str) -> dict[str, str]:
    """The files that a recipe makes or changes, by path. Each hunk's lines have to be in the file exactly once."""
    files = {}
    for change in re.split(r"^(?=--- )", recipe, flags=re.MULTILINE)[1:]:
        [(before, path)] = re.findall(r"\A--- (\S+)\n\+\+\+ (\S+)\n", change)
        text = "" if before == "/dev/null" else (ROOT / before).read_text(encoding="utf-8")
        for hunk in change.split("@@\n")[1:]:
            lines = hunk.splitlines(keepends=True)
            old, new = ("".join(line[1:] for line in lines if line[0] in signs) for signs in (" -", " +"))
            assert before == "/dev/null" or text.count(old) == 1, f"{path} does not have once:\n{old}"
            text = text.replace(old, new, 1)
        files[path] = text
    return files


@pytest.mark.parametrize(("name", "most"), [("field", 4), ("export", 5), ("page", 5)])
def test_a_recipe_fits_the_source_in_few_files(name: str, most: int) -> None:
    files = files_after(RECIPES[name])
    assert len(files) <= most
    for path, text in files.items():
        if path.endswith(".py"):
            ast.parse(text)


@pytest.mark.long
def test_a_copy_with_all_recipes_has_the_field_the_format_and_the_page(tmp_path: Path) -> None:
    for folder in ("app", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "tests" / "api").mkdir(parents=True)
    files = {path: text for recipe in RECIPES.values() for path, text in files_after(recipe).items()}
    for path, text in files.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
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
    documented = Document(tmp_path / "docs" / "reassignment.md").table("field", "what")
    assert seen["fields"] == sorted(name for fields, _ in documented for name in re.findall(r"`(\w+)`", fields))
    documented = Document(tmp_path / "docs" / "execution.md").table("`format`", "file", "what")
    assert seen["formats"] == [name.strip("`") for name, _, _ in documented]
    assert seen["page"][0] == 200
    assert "<h1>Release " in seen["page"][1]
    for path in re.findall(r"app/\S+\.py", " ".join(files)):
        assert wrong_names((tmp_path / path).parent) == set()
