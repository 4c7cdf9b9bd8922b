"""How Alembic reaches a storage: by the connection that `upgrading` hands it."""

from alembic import context

from modelpicker.campaigns.storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True
)
context.run_migrations()
