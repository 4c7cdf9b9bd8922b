"""Bringing a storage to the schema of this version, by Alembic; every event stays as it is."""

from pathlib import Path

from modelpicker.campaigns.storage.database import Storage
from modelpicker.campaigns.storage.schema import SCHEMA
from modelpicker.errors import SchemaError

MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(storage: Storage, target: str = SCHEMA) -> tuple[str | None, str]:
    """Upgrade in one transaction, all or nothing; the schema that was there, and the one that is."""
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with storage.writing() as connection:
        before = storage.version(connection)
        if before != target:
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, target)
            except CommandError as error:
                raise SchemaError(
                    f"{storage.url} has schema {before}, which this modelpicker does not know: {error}. "
                    "Use the modelpicker that made it, or a newer one."
                ) from error
        after = storage.version(connection)
    return before, str(after)
