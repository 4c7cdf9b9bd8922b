"""Items that several people label: what each of them said. Older versions cannot read such campaigns."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add a table; it is empty for all campaigns that are there."""
    op.create_table(
        "opinions",
        sa.Column("campaign", Number, sa.ForeignKey("campaigns.id"), primary_key=True),
        sa.Column("round", sa.BigInteger, primary_key=True),
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("label", sa.Text),
        sa.Column("annotator", sa.Text),
        sqlite_with_rowid=False,
    )
