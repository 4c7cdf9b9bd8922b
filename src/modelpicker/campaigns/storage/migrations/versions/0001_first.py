"""The first schema: campaigns, events, answers, keys and snapshots."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "campaigns",
        sa.Column("id", Number, primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(100), nullable=False, unique=True),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("events", sa.BigInteger, nullable=False),
        sa.Column("rounds", sa.BigInteger, nullable=False),
        sa.Column("rebuilt", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("campaign", Number, sa.ForeignKey("campaigns.id"), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("round", sa.BigInteger, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("events_by_round", "events", ["campaign", "kind", "round"])
    op.create_table(
        "answers",
        sa.Column("campaign", Number, sa.ForeignKey("campaigns.id"), primary_key=True),
        sa.Column("round", sa.BigInteger, primary_key=True),
        sa.Column("state", sa.SmallInteger, nullable=False),
        sa.Column("label", sa.Text),
        sa.Column("leased_until", sa.Float),
        sa.Column("leased_by", sa.Text),
        sqlite_with_rowid=False,
    )
    op.create_index("answers_by_state", "answers", ["campaign", "state", "round"])
    op.create_table(
        "keys",
        sa.Column("campaign", Number, sa.ForeignKey("campaigns.id"), primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("round", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "snapshots",
        sa.Column("campaign", Number, sa.ForeignKey("campaigns.id"), primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
