"""The cache is right or it does not exist: no damage, no stranger and no full disk changes a loop's results."""

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.compiled import entries
from tests.core.compiled.installation import ANSWER, Installation

LOOP = "app.core.flow.any"
STRANGER = 65534
EXPRESSION = """
from app.core.compiled.arrays import Int64Vector
from app.core.compiled.loops import compiled


@compiled
def total(values: Int64Vector, others: Int64Vector) -> int:
    return int((2 * values - others).sum())
"""
"""A loop with an expression over whole arrays, which numba makes a function of its own."""


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """An installation that a test may break."""
    return Installation(tmp_path / "installation")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """An installation whose loops have been compiled, for copies."""
    template = Installation(tmp_path_factory.mktemp("template") / "installation")
    assert template.compile_all() == 2
    return template


@pytest.fixture
def compiled(template: Installation, tmp_path: Path) -> Installation:
    """An installation that a test may break, with its loops compiled."""
    return template.copy(tmp_path / "compiled")


@pytest.fixture
def shared(template: Installation) -> Iterator[Installation]:
    """A compiled installation that other accounts can read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield template.copy(Path(name, "shared"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder in which entries are stored and read."""
    monkeypatch.setattr(entries, "_folders", lambda: iter([tmp_path / "loops"]))
    return tmp_path / "loops"


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The first and the second folder in which entries are stored and read."""
    folders = tmp_path / "first", tmp_path / "second"
    monkeypatch.setattr(entries, "_folders", lambda: iter(folders))
    return folders


def test_an_entry_is_read_as_it_was_written(folder: Path) -> None:
    for content in (b"", b"compiled", bytes(range(256)) * 1000):
        assert entries.write(LOOP, content)
        assert entries.read(LOOP) == content
        assert len(list(folder.iterdir())) == 1


@given(st.data())
def test_a_damaged_entry_does_not_exist(data: st.DataObject) -> None:
    """Whether it was cut off, extended or changed in any byte."""
    content = data.draw(st.binary(max_size=60))
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as name:
        patch.setattr(entries, "_folders", lambda: iter([Path(name)]))
        assert entries.write(LOOP, content)
        [path] = Path(name).iterdir()
        whole = path.read_bytes()
        at = data.draw(st.integers(0, len(whole) - 1))
        changed = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
        for damaged in (whole[:at], whole + b"\0", changed):
            path.write_bytes(damaged)
            assert entries.read(LOOP) is None


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(both: tuple[Path, Path], mode: int) -> None:
    first, second = both
    assert entries.write(LOOP, b"ours")
    first.chmod(mode)
    assert entries.read(LOOP) is None
    assert entries.write(LOOP, b"elsewhere")
    assert [path.parent for path in second.iterdir()] == [second]
    assert entries.read(LOOP) == b"elsewhere"


def test_an_entry_that_others_may_write_to_is_not_used(folder: Path) -> None:
    assert entries.write(LOOP, b"ours")
    [path] = folder.iterdir()
    path.chmod(0o666)
    assert entries.read(LOOP) is None


def test_a_link_is_no_entry_and_no_folder(folder: Path, tmp_path: Path) -> None:
    assert entries.write(LOOP, b"ours")
    [path] = folder.iterdir()
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert entries.read(LOOP) is None
    path.unlink()
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    assert not entries.write(LOOP, b"ours")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("is_folder", [True, False])
def test_what_another_account_owns_is_not_used(folder: Path, *, is_folder: bool) -> None:
    assert entries.write(LOOP, b"ours")
    [path] = folder.iterdir()
    os.chown(folder if is_folder else path, STRANGER, STRANGER)
    assert entries.read(LOOP) is None


def test_if_no_folder_can_be_made_nothing_is_stored(folder: Path) -> None:
    folder.touch()
    assert not entries.write(LOOP, b"ours")
    assert entries.read(LOOP) is None


def test_what_is_in_the_way_is_passed_over(both: tuple[Path, Path]) -> None:
    both[0].touch()
    assert entries.write(LOOP, b"ours")
    assert entries.read(LOOP) == b"ours"


@pytest.mark.parametrize(
    ("name", "is_another"), [("NUMBA_CPU_NAME", True), ("NUMBA_OPT", True), ("NUMBA_NUM_THREADS", False)]
)
def test_what_compiled_code_depends_on_has_a_folder_of_its_own(
    monkeypatch: pytest.MonkeyPatch, name: str, is_another: bool
) -> None:
    """numba can be set to compile for another processor, or otherwise; how many threads it has is no difference."""
    usual = entries.environment()
    monkeypatch.setenv(name, "1")
    assert (entries.environment.__wrapped__() != usual) == is_another


def test_numbas_own_folder_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert entries.write(LOOP, b"ours")
    [path] = tmp_path.rglob("*.loop")
    assert path.parent == tmp_path / "rackplan" / entries.environment()
    assert entries.read(LOOP) == b"ours"


def test_entries_for_other_environments_are_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(entries, "_BESIDE_THE_CORE", tmp_path)
    for name in ("other", entries.environment()):
        (tmp_path / name).mkdir(mode=0o755)
        (tmp_path / name / "a.loop").touch()
    entries.remove_other_environments()
    assert [path.name for path in tmp_path.iterdir()] == [entries.environment()]


def test_those_that_write_at_once_leave_a_whole_entry(folder: Path) -> None:
    """And those that read meanwhile find one of theirs, or none."""
    contents = [bytes([number]) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        writes = [threads.submit(entries.write, LOOP, content) for content in contents * 5]
        found = [entries.read(LOOP) for _ in range(40)]
        assert all(write.result() for write in writes)
    assert {*found} <= {None, *contents}
    assert entries.read(LOOP) in contents
    assert len(list(folder.iterdir())) == 1


class TestAnInstallation:
    """Real loops, compiled, stored and loaded by processes of their own."""

    @pytest.mark.long
    def test_a_stored_loop_is_loaded_and_not_compiled(self, installation: Installation) -> None:
        assert installation.answer(3) == (7, True)
        assert installation.answer(4) == (9, False)
        assert installation.stored().keys() == {ANSWER}

    @pytest.mark.long
    def test_two_compilations_are_the_same_bytes(self, installation: Installation) -> None:
        """Or else no image that has compiled loops could be built twice. Addresses differ from process to process."""
        (installation.core / "arrays_kernel.py").write_text(EXPRESSION, encoding="utf-8")
        compiled = []
        for _ in range(2):
            assert installation.compile_all(PYTHONHASHSEED="0") == 3
            compiled.append({name: path.read_bytes() for name, path in installation.stored().items()})
            for path in installation.stored().values():
                path.unlink()
        assert compiled[0] == compiled[1]

    @pytest.mark.long
    def test_a_loop_that_is_loaded_can_be_part_of_another_one(self, compiled: Installation) -> None:
        """Of a stored loop there is no intermediate code, which the other one links: it is compiled as a subroutine."""
        compiled.replace("calling_kernel.py", "import doubled", "import doubled, total")
        compiled.replace("calling_kernel.py", "doubled(value) + 1", "doubled(value) + total(np.arange(value))")
        compiled.replace("calling_kernel.py", "from app.core.compiled", "import numpy as np\nfrom app.core.compiled")
        code = """
import numpy as np
from numba.core import event
from app.core.called_kernel import total
with event.install_recorder("numba:compile") as compilations:
    print(total(np.arange(4)), len(compilations.buffer))
from app.core.calling_kernel import answer
print(answer(4))
"""
        assert compiled.run(code).split() == ["6", "0", "14"]
        assert compiled.answer(4) == (14, False)

    @pytest.mark.long
    def test_a_change_in_what_a_loop_calls_compiles_it_again(self, installation: Installation) -> None:
        assert installation.answer(3) == (7, True)
        before = installation.stored()
        installation.replace("called_kernel.py", "2 * value", "5 * value")
        assert installation.answer(3) == (16, True)
        after = installation.stored()
        assert after.keys() == before.keys()
        assert not {*after.values()} & {*before.values()}, "the entries of what is no more are removed"

    @pytest.mark.long
    def test_a_change_elsewhere_compiles_nothing_again(self, compiled: Installation) -> None:
        compiled.replace("calling_kernel.py", "+ 1", "+ 2")
        assert compiled.compile_all() == 1
        assert compiled.answer(3) == (8, False)

    @pytest.mark.long
    def test_damage_is_repaired(self, compiled: Installation) -> None:
        path = compiled.stored()[ANSWER]
        path.write_bytes(path.read_bytes()[:-1])
        assert compiled.answer(3) == (7, True)
        path.write_bytes(b"")
        assert compiled.compile_all() == 1
        assert compiled.answer(3) == (7, False)

    @pytest.mark.long
    def test_another_processor_compiles_for_itself(self, compiled: Installation) -> None:
        """numba can be set to compile for a simpler processor than this one."""
        simpler = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
        assert compiled.answer(3, **simpler) == (7, True)
        assert compiled.answer(3, **simpler) == (7, False)
        assert compiled.answer(3) == (7, False)

    @pytest.mark.long
    def test_compiling_all_removes_what_is_for_other_environments(self, installation: Installation) -> None:
        assert installation.answer(3, NUMBA_OPT="1") == (7, True)
        assert installation.compile_all() == 2
        assert len(list((installation.core / "__pycache__" / "loops").iterdir())) == 1

    @pytest.mark.long
    def test_numbas_own_setting_is_respected(self, installation: Installation, tmp_path: Path) -> None:
        chosen = {"NUMBA_CACHE_DIR": str(tmp_path / "chosen")}
        assert installation.compile_all(**chosen) == 2
        assert installation.stored() == {}
        assert len(list((tmp_path / "chosen").rglob("*.loop"))) == 2
        assert installation.answer(3, **chosen) == (7, False)

    def test_executors_read_the_loops_of_an_installation(self, compiled: Installation, tmp_path: Path) -> None:
        """They have the same sources elsewhere, and write nothing to the installation."""
        executor = Installation(tmp_path / "executor")
        listed = {"RACKPLAN_COMPILED": str(compiled.core / "__pycache__" / "loops")}
        assert executor.answer(3, **listed) == (7, False)
        assert executor.stored() == {}

    @pytest.mark.long
    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")
    def test_what_root_has_installed_is_read_by_others_and_not_written(self, shared: Installation) -> None:
        """As the worker and Spark's Python do, which run as `nobody`."""
        # Python itself may be where the other account reads nothing: modules for compiling are imported before.
        compile_one = "import numba; numba.njit(lambda: 0)()"
        warm_up = f"{compile_one}; import numpy; from app.core.called_kernel import total; total(numpy.arange(3))"
        become = f"import os; os.setgid({STRANGER}); os.setuid({STRANGER})"
        code = f"{warm_up}\n{become}\nfrom app.core.calling_kernel import answer; print(answer(3))"
        assert shared.run(code, HOME="/nonexistent") == "7"
        shared.replace("called_kernel.py", "2 * value", "5 * value")
        shared.run(warm_up)
        before = shared.stored()
        assert shared.run(code, HOME="/nonexistent") == "16"
        assert shared.stored() == before

    @pytest.mark.long
    def test_a_full_disk_stores_nothing_and_changes_nothing(self, installation: Installation) -> None:
        """A limit on the size of files fails a write half-way, as a full disk does."""
        code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from app.core.calling_kernel import answer
print(answer(3))
"""
        assert installation.run(code) == "7"
        assert [path for path in installation.folder.rglob("loops*/**/*") if path.is_file()] == []

    @pytest.mark.long
    def test_processes_that_compile_at_once_agree(self, installation: Installation) -> None:
        code = "from app.core.calling_kernel import answer; print(answer(3))"
        processes = [installation.start(code) for _ in range(3)]
        for process in processes:
            printed, errors = process.communicate()
            assert (printed.strip(), process.returncode) == ("7", 0), errors
        assert installation.answer(3) == (7, False)
        assert installation.stored().keys() == {ANSWER}

    @pytest.mark.long
    def test_a_source_that_changes_under_a_process_is_not_stored(self, installation: Installation) -> None:
        """Else processes with the new source would find the code of the old one."""
        code = """
import sys
from app.core.calling_kernel import answer
print("imported", flush=True)
sys.stdin.readline()
print(answer(3))
"""
        process = installation.start(code)
        assert process.stdout is not None
        assert process.stdout.readline() == "imported\n"
        installation.replace("called_kernel.py", "2 * value", "5 * value")
        printed, _ = process.communicate("\n")
        assert printed == "7\n"
        assert installation.stored() == {}
        assert installation.answer(3) == (16, True)
