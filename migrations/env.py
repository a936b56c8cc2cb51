"""Run by Alembic with the connection that `app.store.migrations` hands over."""

from alembic import context

from app.store.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=False)
with context.begin_transaction():
    context.run_migrations()
