"""A backup: every table of the schema in one archive, as of one moment; and a database as it was.

The archive is a ZIP file. `tables/<name>` has the rows of a table in the text format of COPY, which every version of
Postgres reads; `manifest.json` comes last and has the schema revision, and the columns, rows and SHA-256 of each table.
Nothing here knows a table by its name but Alembic's, so that tables of later versions are part of a backup, too.
"""

import hashlib
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import IO, Any

import orjson
import psycopg
import sqlalchemy as sa
from psycopg import sql

from app.errors.machine import BackupUnreadable, DatabaseNotEmpty, OutputNotWritable
from app.store import migrations
from app.store.database import Database
from app.store.tables import STATEMENTS

FORMAT = 1
_MANIFEST = "manifest.json"
_REVISION = "alembic_version"
_PIECE = 2**20
_LARGEST_MANIFEST = 2**20


@dataclass(frozen=True, slots=True)
class TableBackup:
    columns: Sequence[str]
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a backup: the revision of its schema, and its tables by name."""

    revision: str
    tables: Mapping[str, TableBackup]
    format: int = FORMAT

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(table.rows for table in self.tables.values())


def write(database: Database, file: Path) -> Manifest:
    """Write a backup of the database as it is when this begins; nothing waits for it.

    The file has its name once it is complete; only its owner may read it, since it contains secrets.

    Raises
    ------
    OutputNotWritable : the file exists, or cannot be written.
    DatabaseUnavailable
    """
    draft = file.with_name(file.name + ".part")
    if file.exists():
        raise OutputNotWritable(f"{file} exists")
    try:
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            manifest = _written(database, archive)
        draft.rename(file)
    except OSError as failure:
        draft.unlink(missing_ok=True)
        raise OutputNotWritable(f"{file}: {failure.strerror}") from failure
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return manifest


def restore(database: Database, file: Path, *, overwrite: bool) -> Manifest:
    """Bring the schema to the revision of a backup, store its rows, and migrate to the newest revision.

    The rows are stored in one transaction: if it fails, the schema is empty.

    Parameters
    ----------
    overwrite : whether a database that has rows is emptied first.

    Raises
    ------
    BackupUnreadable : the file is no backup, is damaged, or was written by a newer version.
    DatabaseNotEmpty, DatabaseUnavailable
    """
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest(archive)
            _check_content(archive, manifest)
    # Raised by the library for a damaged archive, of unknown compression methods, keys and offsets.
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ) as damaged:
        raise BackupUnreadable(f"{file} cannot be read: {damaged}") from damaged
    with zipfile.ZipFile(file) as archive:
        _make_schema(database, manifest.revision, overwrite=overwrite)
        with database.engine.begin() as connection:
            _fill(connection, archive, manifest)
    migrations.upgrade(database.engine)
    return manifest


def _written(database: Database, archive: zipfile.ZipFile) -> Manifest:
    with database.engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        connection.execute(sa.text("SET TRANSACTION READ ONLY"))
        connection.execute(sa.text("SET LOCAL row_security = off"))  # an error, if rows would be left out
        revision = migrations.current(connection)
        if revision is None:
            raise BackupUnreadable("the database has no schema of Rackplan; there is nothing to back up")
        tables = {}
        for name, columns in _tables(connection).items():
            with archive.open(f"tables/{name}", "w", force_zip64=True) as member:
                tables[name] = _copied(_driver(connection), name, columns, member)
        manifest = Manifest(revision, tables)
        archive.writestr(_MANIFEST, orjson.dumps(asdict(manifest), option=orjson.OPT_INDENT_2))
        return manifest


def _tables(connection: sa.Connection) -> dict[str, list[str]]:
    """The columns of every table by name, without Alembic's and without columns that are computed."""
    return {
        name: columns
        for name, columns in connection.execute(sa.text(STATEMENTS["tables_with_columns"]))
        if name != _REVISION
    }


def _copied(driver: psycopg.Connection[Any], name: str, columns: Sequence[str], member: IO[bytes]) -> TableBackup:
    digest, rows = hashlib.sha256(), 0
    select = sql.SQL("COPY {} ({}) TO STDOUT").format(sql.Identifier(name), _names(columns))
    with driver.cursor() as cursor, cursor.copy(select) as copy:
        for piece in copy:
            digest.update(piece)
            rows += bytes(piece).count(b"\n")  # line feeds within values are written as `\n`
            member.write(piece)
    return TableBackup(columns, rows, digest.hexdigest())


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    """Read the manifest. Raises `BackupUnreadable`."""
    try:
        if archive.getinfo(_MANIFEST).file_size > _LARGEST_MANIFEST:
            raise BackupUnreadable(f"{_MANIFEST} has more than {_LARGEST_MANIFEST} bytes")
        document = orjson.loads(archive.read(_MANIFEST))
        tables = {str(name): TableBackup(**table) for name, table in document["tables"].items()}
        manifest = Manifest(str(document["revision"]), tables, int(document["format"]))
    except (KeyError, TypeError, ValueError, AttributeError) as wrong:
        raise BackupUnreadable("the file is no backup of Rackplan: it has no manifest that can be read") from wrong
    if manifest.format != FORMAT or manifest.revision > migrations.newest():
        raise BackupUnreadable(
            f"the backup has format {manifest.format} and schema {manifest.revision}; this version of Rackplan reads "
            f"format {FORMAT} and schemas up to {migrations.newest()}",
            revision=manifest.revision,
        )
    return manifest


def _check_content(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    """Raise `BackupUnreadable` if a table is missing or not as it was written, before anything is changed."""
    for name, table in manifest.tables.items():
        digest = hashlib.sha256()
        for piece in _pieces(archive, name):
            digest.update(piece)
        if digest.hexdigest() != table.sha256:
            raise BackupUnreadable(f"the rows of {name} are not those that were written: their SHA-256 differs")


def _pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    try:
        member = archive.open(f"tables/{name}")
    except KeyError as missing:
        raise BackupUnreadable(f"the rows of {name} are missing") from missing
    with member:
        while piece := member.read(_PIECE):
            yield piece


def _make_schema(database: Database, revision: str, *, overwrite: bool) -> None:
    """An empty schema of a revision. Raises `DatabaseNotEmpty`."""
    with database.engine.connect() as connection:
        current = migrations.current(connection)
        filled = [name for name in _tables(connection) if _has_rows(connection, name)]
    if current is None and filled:
        raise DatabaseNotEmpty(f"the database has other tables, such as {filled[0]}; restore into one of its own")
    if filled and not overwrite:
        raise DatabaseNotEmpty(
            f"the database has rows in {', '.join(filled)}; restore into an empty one, or add --overwrite, which "
            "deletes them"
        )
    if current is not None:
        migrations.downgrade(database.engine)
    migrations.upgrade(database.engine, revision)


def _has_rows(connection: sa.Connection, name: str) -> bool:
    query = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(name))
    with _driver(connection).cursor() as cursor:
        row = cursor.execute(query).fetchone()
    return bool(row and row[0])


def _fill(connection: sa.Connection, archive: zipfile.ZipFile, manifest: Manifest) -> None:
    known = _tables(connection)
    if missing := sorted(manifest.tables.keys() - known.keys()):
        raise BackupUnreadable(f"schema {manifest.revision} has no table {missing[0]}, of which the backup has rows")
    driver = _driver(connection)
    for name in _ordered(connection, known):
        # Rows that triggers write, such as events of the queue, are in the backup.
        driver.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(sql.Identifier(name)))
        driver.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))  # rows that a migration has stored
    for name in _ordered(connection, known):
        if name in manifest.tables:
            _load(driver, archive, name, manifest.tables[name])
    for name in known:
        driver.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(sql.Identifier(name)))
    for table, column, sequence in connection.execute(sa.text(STATEMENTS["sequences_of_columns"])).all():
        last = sql.SQL("SELECT setval({}, COALESCE(max({}), 0) + 1, false) FROM {}")
        driver.execute(last.format(sql.Literal(sequence), sql.Identifier(column), sql.Identifier(table)))


def _ordered(connection: sa.Connection, known: Mapping[str, object]) -> list[str]:
    """The tables, each after those that it refers to."""
    graph: dict[str, set[str]] = {name: set() for name in known}
    for table, referred in connection.execute(sa.text(STATEMENTS["references_of_tables"])):
        graph[table].add(referred)
    return list(TopologicalSorter(graph).static_order())


def _load(driver: psycopg.Connection[Any], archive: zipfile.ZipFile, name: str, table: TableBackup) -> None:
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(name), _names(table.columns))
    with driver.cursor() as cursor:
        with cursor.copy(into) as copy:
            for piece in _pieces(archive, name):
                copy.write(piece)
        if cursor.rowcount != table.rows:
            raise BackupUnreadable(f"{name} has {cursor.rowcount} rows; {table.rows} were written")


def _names(columns: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def _driver(connection: sa.Connection) -> psycopg.Connection[Any]:
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment] # SQLAlchemy types no driver
    return driver
