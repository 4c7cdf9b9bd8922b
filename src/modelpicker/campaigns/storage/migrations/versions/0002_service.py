"""What the service needs: how the models stood now and then, and who may use it."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add two tables; those that are there stay as they are."""
    op.create_table(
        "samples",
        sa.Column("campaign", Number, sa.ForeignKey("campaigns.id"), primary_key=True),
        sa.Column("event", sa.BigInteger, primary_key=True),
        sa.Column("rounds", sa.BigInteger, nullable=False),
        sa.Column("labels", sa.BigInteger, nullable=False),
        sa.Column("changes", sa.Integer, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(100), nullable=False, unique=True),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("predictions", sa.Boolean, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
    )
