"""Tokens: made, listed, revoked; known by their hashes alone; and guessing them is a waste of time."""

import hashlib
import hmac
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from modelpicker.campaigns.storage.database import Storage, open_storage
from modelpicker.errors import ConflictError, InputError, NotFoundError
from modelpicker.server.access import tokens
from modelpicker.server.access.tokens import (
    ROLES,
    TOKEN,
    Failures,
    Tokens,
    create_token,
    list_tokens,
    revoke_token,
)
from tests.server.raw import Answer, connection, head, receive
from tests.server.servers import API, Running, serving

WRONG = "mp_0123456789abcdef_" + "A" * 43


@pytest.fixture
def storage(name: str) -> Storage:
    return open_storage(f"memory://{name}", create=True)


# Making them.


@pytest.mark.parametrize("role", ROLES)
def test_a_token_opens_the_door_for_its_role(storage: Storage, role: str) -> None:
    secret = create_token(storage, "Mia", role)
    found = Tokens(storage).find(secret)
    assert found is not None
    assert (found.name, found.role, found.predictions) == ("Mia", role, role != "annotator")


def test_an_annotator_may_be_allowed_to_see_predictions(storage: Storage) -> None:
    secret = create_token(storage, "Mia", "annotator", predictions=True)
    found = Tokens(storage).find(secret)
    assert found is not None
    assert found.predictions


def test_tokens_are_long_random_and_never_the_same(storage: Storage) -> None:
    made = [create_token(storage, f"t{number}", "reader") for number in range(20)]
    assert all(TOKEN.fullmatch(secret) for secret in made)
    assert len({secret[3:19] for secret in made}) == len({secret[20:] for secret in made}) == 20
    assert len(made[0][20:]) == 43  # 256 bits


def test_the_storage_keeps_hashes_alone(tmp_path: Path) -> None:
    file = tmp_path / "campaigns.db"
    secret = create_token(open_storage(f"sqlite:///{file}", create=True), "Mia", "owner")
    hidden = TOKEN.fullmatch(secret)
    assert hidden is not None
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert hidden[1].encode() in kept
    assert hidden[2].encode() not in kept
    assert hashlib.sha256(hidden[2].encode()).digest() in kept
    opened = sqlite3.connect(file)
    assert [len(row[0]) for row in opened.execute("SELECT digest FROM tokens")] == [32]
    opened.close()


@pytest.mark.parametrize("name", ["", " ", "a/b", "a\nb", "\x1b[31m", "-a", "a" * 101, "\ud800", "a\0", " a"])
def test_names_that_logs_and_lists_would_stumble_over_are_refused(storage: Storage, name: str) -> None:
    with pytest.raises(InputError):
        create_token(storage, name, "owner")
    assert list_tokens(storage) == []


def test_there_is_no_other_role(storage: Storage) -> None:
    with pytest.raises(InputError, match="owner, annotator, reader"):
        create_token(storage, "Mia", "admin")


def test_a_name_has_one_token_until_it_is_revoked(storage: Storage) -> None:
    first = create_token(storage, "Mia", "owner")
    with pytest.raises(ConflictError, match="revoke it first"):
        create_token(storage, "Mia", "reader")
    revoke_token(storage, "Mia")
    second = create_token(storage, "Mia", "reader")
    known = Tokens(storage)
    assert known.find(first) is None
    assert known.find(second) is not None


def test_what_was_revoked_is_gone_and_cannot_be_revoked_again(storage: Storage) -> None:
    create_token(storage, "Mia", "owner")
    create_token(storage, "Ben", "reader")
    assert [token.name for token in list_tokens(storage)] == ["Ben", "Mia"]
    revoke_token(storage, "Mia")
    assert [token.name for token in list_tokens(storage)] == ["Ben"]
    for name in ("Mia", "mia", "%", "", "\0", "\ud800"):
        with pytest.raises(NotFoundError):
            revoke_token(storage, name)


# Checking them.


@pytest.mark.parametrize(
    "spoil",
    [
        lambda secret: "",
        lambda secret: secret[:-1],
        lambda secret: secret + "A",
        lambda secret: secret + "\n",
        lambda secret: " " + secret,
        lambda secret: secret.upper(),
        lambda secret: secret[:20] + secret[20:][::-1],
        lambda secret: "mp_0123456789abcdef_" + secret[20:],
        lambda secret: secret.replace("mp_", "mq_"),
        lambda secret: secret[:3] + "é" * 16 + secret[19:],
        lambda secret: secret[:20] + "\ud800" * 43,
        lambda secret: secret[:20] + "٣" * 43,
    ],
)
def test_what_is_almost_a_token_is_worthless(storage: Storage, spoil: Callable[[str], str]) -> None:
    secret = create_token(storage, "Mia", "owner")
    assert Tokens(storage).find(spoil(secret)) is None


def test_hashes_are_compared_in_constant_time_whether_the_token_is_known_or_not(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[int, int]] = []
    real = hmac.compare_digest

    def compare(first: bytes, second: bytes) -> bool:
        compared.append((len(first), len(second)))
        return real(first, second)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    secret = create_token(storage, "Mia", "owner")
    for given in (secret, secret[:20] + "A" * 43, WRONG):
        Tokens(storage).find(given)
    assert compared == [(32, 32)] * 3


def test_nobody_is_let_in_by_the_hash_of_an_unknown_token(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "_digest", lambda secret: bytes(32))
    assert Tokens(storage).find(WRONG) is None


def test_the_storage_is_read_once_a_second_and_not_for_nonsense(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    reads: list[float] = []
    real = list_tokens

    def counted(where: Storage) -> list[tokens.Token]:
        reads.append(now[0])
        return real(where)

    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(tokens, "list_tokens", counted)
    secret = create_token(storage, "Mia", "owner")
    known = Tokens(storage)
    for _ in range(5):
        assert known.find("nonsense") is None
    assert reads == []
    for _ in range(5):
        assert known.find(secret) is not None
    revoke_token(storage, "Mia")
    now[0] += 0.9
    assert known.find(secret) is not None
    now[0] += 0.2
    assert known.find(secret) is None
    assert len(reads) == 2


# Guessing them.


def test_who_guesses_has_to_wait_and_is_forgiven_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    failures = Failures()
    for _ in range(tokens.PATIENCE):
        assert failures.pause("a") == 0
        failures.add("a")
    assert failures.pause("a") == tokens.PAUSE
    assert failures.pause("b") == 0
    now[0] += tokens.PAUSE - 1
    assert failures.pause("a") == 1
    now[0] += 1
    assert failures.pause("a") == 0
    failures.add("a")
    assert failures.pause("a") == 0


def test_addresses_without_end_take_no_memory_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_ADDRESSES", 100)
    failures = Failures()
    for number in range(10_000):
        failures.add(f"address {number}")
    assert len(failures._seen) <= 100
    for _ in range(tokens.PATIENCE):
        failures.add("address 9999")
    assert failures.pause("address 9999") > 0


@pytest.fixture
def guarded(storage: Storage) -> Iterator[tuple[Running, str]]:
    """A server with one token."""
    secret = create_token(storage, "Mia", "owner")
    with serving(storage.place, tokens=True) as running:
        yield running, secret


def ask(server: Running, token: str, source: str = "127.0.0.1", **headers: str) -> Answer:
    """A request that comes from an address of this machine."""
    request = head(f"{API}/campaigns", authorization=f"Bearer {token}", **headers)
    with connection(server, source) as opened:
        opened.sendall(request)
        return receive(opened)


def test_after_ten_wrong_tokens_others_from_there_have_to_wait_but_right_ones_never(
    guarded: tuple[Running, str],
) -> None:
    server, secret = guarded
    assert [ask(server, WRONG).status for _ in range(12)] == [401] * 10 + [429] * 2
    late = ask(server, WRONG)
    assert late.problem["type"].endswith("too-many")
    assert 0 < int(late.headers["retry-after"]) <= 61
    assert server.post("/session", {"token": WRONG}).status_code == 429
    assert ask(server, secret).status == 200
    assert server.post("/session", {"token": secret}).status_code == 200
    assert ask(server, WRONG, "127.0.0.2").status == 401
    found = server.http.get("/metrics", headers={"Authorization": f"Bearer {secret}"}).text
    assert re.search(r"^modelpicker_failed_tokens_total 11\.0$", found, re.MULTILINE)


def test_behind_a_proxy_clients_are_told_apart_and_nobody_else_can_pretend(guarded: tuple[Running, str]) -> None:
    server, _ = guarded
    for number in range(12):  # a proxy on this machine is believed
        assert ask(server, WRONG, x_forwarded_for=f"192.0.2.{number}").status == 401
    for number in range(12):  # a stranger is not
        status = ask(server, WRONG, "127.0.0.3", x_forwarded_for=f"192.0.2.{100 + number}").status
        assert status == (401 if number < 10 else 429)
