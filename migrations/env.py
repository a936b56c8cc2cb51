"""Run by Alembic with the connection that `app.store.migrations` hands over."""

import sqlalchemy as sa
from alembic import context

# The names of keys, indices and constraints that migrations state without one.
NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}

connection = context.config.attributes["connection"]
context.configure(
    connection=connection, target_metadata=sa.MetaData(naming_convention=NAMES), transaction_per_migration=False
)
with context.begin_transaction():
    context.run_migrations()
