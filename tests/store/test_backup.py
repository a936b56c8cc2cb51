"""A backup holds every row of every table, and nothing that is damaged or in the way is restored over."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import orjson
import pytest
import sqlalchemy as sa

from app.api.examples import PLACE
from app.errors.machine import BackupUnreadable, DatabaseNotEmpty, OutputNotWritable
from app.services import backups
from app.store import backup, embedded, migrations
from app.store.database import Database
from tests import databases

_ROWS = "SELECT md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM {} t"


def content(database: Database) -> dict[str, str | None]:
    """A digest of the rows of each table, whatever their order."""
    names = [*databases.TABLES, "alembic_version"]
    with database.engine.connect() as connection:
        return {name: connection.scalar(sa.text(_ROWS.format(name))) for name in names}


@pytest.fixture
def empty(postgres: embedded.Server) -> Iterator[Database]:
    """A database without any table."""
    with databases.copied("template0", server=postgres.url) as database:
        yield database


@pytest.fixture
def written(client: httpx.Client, database: Database, tmp_path: Path) -> Path:
    """A backup of the examples, of a plan with a derived seed and of a job."""
    assert client.post("/v1/plans/replicas", json={**PLACE, "seed": None}).is_success
    assert client.post("/v1/plans/replicas", json=PLACE, headers={"Prefer": "respond-async"}).status_code == 202
    backup.write(database, tmp_path / "backup.zip")
    return tmp_path / "backup.zip"


class TestRestore:
    """`restore`, of a backup by `write`."""

    def test_every_row_is_there_and_every_hash_holds(self, written: Path, database: Database, empty: Database) -> None:
        manifest = backup.restore(empty, written, overwrite=False)
        assert content(empty) == content(database)
        assert set(manifest.tables) == {*databases.TABLES}, "no table is left out"
        assert backups.verify(empty) >= 3

    def test_new_rows_of_the_queue_have_new_ids(self, written: Path, empty: Database) -> None:
        backup.restore(empty, written, overwrite=False)
        with empty.begin() as uow:
            uow.jobs.enqueue("replicas", {})
        with empty.engine.connect() as connection:
            numbers = connection.scalars(sa.text("SELECT id FROM procrastinate_jobs ORDER BY id")).all()
        assert len(set(numbers)) == len(numbers) >= 3

    def test_rows_are_not_overwritten_unless_that_is_asked_for(self, written: Path, empty: Database) -> None:
        backup.restore(empty, written, overwrite=False)
        before = content(empty)
        with pytest.raises(DatabaseNotEmpty, match="--overwrite"):
            backup.restore(empty, written, overwrite=False)
        with empty.begin() as uow:
            uow.jobs.enqueue("replicas", {})
        backup.restore(empty, written, overwrite=True)
        assert content(empty) == before

    def test_tables_of_others_are_not_touched(self, written: Path, empty: Database) -> None:
        with empty.engine.begin() as connection:
            connection.execute(sa.text("CREATE TABLE theirs AS SELECT 1 AS one"))
        with pytest.raises(DatabaseNotEmpty, match="theirs"):
            backup.restore(empty, written, overwrite=True)

    def test_an_older_schema_is_migrated(self, empty: Database, postgres: embedded.Server, tmp_path: Path) -> None:
        older = sorted(path.name[:4] for path in (migrations.FOLDER / "versions").glob("0*.py"))[-2]
        migrations.upgrade(empty.engine, older)
        with empty.engine.begin() as connection:
            connection.execute(
                sa.text("INSERT INTO jobs (id, kind, state, request) VALUES (gen_random_uuid(), 'k', 'queued', '{}')")
            )
        manifest = backup.write(empty, tmp_path / "old.zip")
        assert manifest.revision == older
        with databases.copied("template0", server=postgres.url) as other:
            backup.restore(other, tmp_path / "old.zip", overwrite=False)
            with other.engine.connect() as connection:
                assert migrations.current(connection) == migrations.newest()
                assert connection.scalar(sa.text("SELECT count(*) FROM jobs")) == 1


class TestDamage:
    """A damaged backup changes nothing."""

    @pytest.mark.parametrize("place", [0.01, 0.1, 0.3, 0.5, 0.7, 0.9])
    def test_a_changed_byte_is_noticed(self, written: Path, database: Database, empty: Database, place: float) -> None:
        """Or is of no consequence, such as the date of a member."""
        changed = bytearray(written.read_bytes())
        changed[int(place * len(changed))] ^= 0x55
        written.write_bytes(changed)
        try:
            backup.restore(empty, written, overwrite=False)
        except BackupUnreadable:
            with empty.engine.connect() as connection:
                assert migrations.current(connection) is None
        else:
            assert content(empty) == content(database)

    @pytest.mark.parametrize("kept", [0, 10, 0.5])
    def test_a_file_that_is_cut_off(self, written: Path, empty: Database, kept: float) -> None:
        whole = written.read_bytes()
        written.write_bytes(whole[: int(kept * len(whole)) if kept < 1 else int(kept)])
        with pytest.raises(BackupUnreadable):
            backup.restore(empty, written, overwrite=False)

    @pytest.mark.parametrize(
        "document",
        [b"{}", b"[]", b"{", b'{"revision": "9999", "format": 1, "tables": {}}', b'{"revision": "0001", "format": 2}'],
    )
    def test_a_manifest_of_something_else(self, empty: Database, tmp_path: Path, document: bytes) -> None:
        with zipfile.ZipFile(tmp_path / "it.zip", "w") as archive:
            archive.writestr("manifest.json", document)
        with pytest.raises(BackupUnreadable):
            backup.restore(empty, tmp_path / "it.zip", overwrite=False)

    def test_a_table_that_the_schema_does_not_have(self, written: Path, empty: Database, tmp_path: Path) -> None:
        with zipfile.ZipFile(written) as archive:
            manifest = orjson.loads(archive.read("manifest.json"))
            manifest["tables"]["intruders"] = manifest["tables"].pop("webhooks")
            with zipfile.ZipFile(tmp_path / "it.zip", "w") as other:
                for name in archive.namelist():
                    content_ = orjson.dumps(manifest) if name == "manifest.json" else archive.read(name)
                    other.writestr(name.replace("webhooks", "intruders"), content_)
        with pytest.raises(BackupUnreadable, match="intruders"):
            backup.restore(empty, tmp_path / "it.zip", overwrite=False)

    def test_a_plan_that_is_not_that_of_its_hash(self, written: Path, empty: Database) -> None:
        backup.restore(empty, written, overwrite=False)
        with empty.engine.begin() as connection:
            changed = "UPDATE plans SET request = jsonb_set(request::jsonb, '{cluster}', '\"other\"')::json"
            connection.execute(sa.text(changed))
        with pytest.raises(BackupUnreadable, match="does not have the request of its hash"):
            backups.verify(empty)


class TestWrite:
    """`write`."""

    def test_a_file_is_not_overwritten(self, written: Path, database: Database) -> None:
        with pytest.raises(OutputNotWritable, match="exists"):
            backup.write(database, written)

    def test_a_file_that_cannot_be_written_leaves_nothing(self, database: Database, tmp_path: Path) -> None:
        with pytest.raises(OutputNotWritable):
            backup.write(database, tmp_path / "missing" / "backup.zip")
        assert not list(tmp_path.iterdir())

    def test_only_its_owner_reads_it(self, written: Path) -> None:
        assert written.stat().st_mode & 0o777 == 0o600
        assert [path.name for path in written.parent.iterdir()] == [written.name]

    def test_a_database_without_a_schema(self, empty: Database, tmp_path: Path) -> None:
        with pytest.raises(BackupUnreadable, match="nothing to back up"):
            backup.write(empty, tmp_path / "backup.zip")
