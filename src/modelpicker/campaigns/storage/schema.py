"""The tables of a storage.

`events` is the truth and is only ever added to. `answers`, `opinions` and `keys` are found from it again, and so is
the state in `snapshots`: they make asking, telling and opening quick. `samples` are for charts: how the models
stood now and then. `tokens` say who may use the service. Changes go through `migrations/`, and `SCHEMA` names the
last.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
)

SCHEMA = "0005"

metadata = MetaData()
# SQLite counts rows by itself in a column of this very type only.
Number = BigInteger().with_variant(Integer, "sqlite")

campaigns = Table(
    "campaigns",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("created", BigInteger, nullable=False),  # microseconds since 1970, as all times here but leases
    Column("settings", Text, nullable=False),  # JSON: models, classes, algorithm, options, seed, budget, …
    Column("events", BigInteger, nullable=False),  # how many there are
    Column("rounds", BigInteger, nullable=False),  # how many have been decided
    Column("rebuilt", BigInteger, nullable=False),  # the last event that changed what was learned before it
    Column("checksum", String(16)),  # of the settings; see settings.py
)
events = Table(
    "events",
    metadata,
    Column("campaign", Number, ForeignKey("campaigns.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True),  # from 1, without a gap
    Column("kind", String(20), nullable=False),
    Column("round", BigInteger, nullable=False),  # the first that it is about
    Column("at", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Index("events_by_round", "campaign", "kind", "round"),
    sqlite_with_rowid=False,
)
answers = Table(
    "answers",
    metadata,
    Column("campaign", Number, ForeignKey("campaigns.id"), primary_key=True),
    Column("round", BigInteger, primary_key=True),
    Column("state", SmallInteger, nullable=False),  # see events/round_states.py
    Column("label", Text),  # JSON
    Column("leased_until", Float),  # seconds since 1970
    Column("leased_by", Text),
    Column("asked", BigInteger),  # in a pool, how many questions there were before; nothing if nobody was asked
    Index("answers_by_state", "campaign", "state", "round"),
    sqlite_with_rowid=False,
)
opinions = Table(
    "opinions",
    metadata,
    Column("campaign", Number, ForeignKey("campaigns.id"), primary_key=True),
    Column("round", BigInteger, primary_key=True),
    Column("person", Text, primary_key=True),  # who answered; empty for whoever gave no name
    Column("label", Text),  # JSON; nothing if they cannot tell
    Column("annotator", Text),  # the person's whole signature
    sqlite_with_rowid=False,
)
keys = Table(
    "keys",
    metadata,
    Column("campaign", Number, ForeignKey("campaigns.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("round", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
snapshots = Table(
    "snapshots",
    metadata,
    Column("campaign", Number, ForeignKey("campaigns.id"), primary_key=True),
    Column("body", LargeBinary, nullable=False),
)
samples = Table(
    "samples",
    metadata,
    Column("campaign", Number, ForeignKey("campaigns.id"), primary_key=True),
    Column("event", BigInteger, primary_key=True),  # after which it was taken
    Column("rounds", BigInteger, nullable=False),
    Column("labels", BigInteger, nullable=False),
    Column("changes", Integer, nullable=False),  # how often models had joined or left
    Column("body", LargeBinary, nullable=False),  # a 32-bit float a model: its weight, or its estimate without one
)
tokens = Table(
    "tokens",
    metadata,
    Column("id", String(16), primary_key=True),  # the part of a token that is not a secret
    Column("name", String(100), nullable=False, unique=True),
    Column("role", String(20), nullable=False),
    Column("predictions", Boolean, nullable=False),  # whether an annotator may see them
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the secret
    Column("created", BigInteger, nullable=False),
)
