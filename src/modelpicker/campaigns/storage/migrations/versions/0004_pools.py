"""Campaigns on pools: in which order their questions were asked. Older versions cannot read such campaigns."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column; the questions of a stream have nothing there."""
    op.add_column("answers", sa.Column("asked", sa.BigInteger))
