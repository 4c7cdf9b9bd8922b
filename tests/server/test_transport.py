"""How the client reaches a server: TLS, proxies, timeouts, and what is tried again."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

import modelpicker as mp
from modelpicker.server import transport
from tests.server.servers import Running
from tests.server.test_client import read_message

MODELS = ["ant", "bee", "cat"]
CERTIFICATE = Path(__file__).parent / "tls" / "localhost.crt"
KEY = CERTIFICATE.with_suffix(".key")
"""Of a certificate that nobody trusts."""

Answering = Callable[[bytes], bytes]


@contextmanager
def listening(answer: Answering, tls: bool = False) -> Iterator[str]:
    """Something that answers one request per connection; where it listens."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:
                return
            with closing(caller), suppress(OSError):
                secured = context.wrap_socket(caller, server_side=True) if tls else caller
                with closing(secured):
                    request = read_message(secured)
                    if request:
                        secured.sendall(answer(request))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def forward(server: Running) -> Answering:
    """Answers that come from a server."""

    def answer(request: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", server.port)) as there:
            there.sendall(request)
            return read_message(there)

    return answer


def reply(status: str, *headers: str, body: str = '{"campaigns": []}') -> bytes:
    """An answer, as it goes over the wire."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close", "", body]
    return "\r\n".join(lines).encode()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client has waited between tries; here it does not."""
    found: list[float] = []
    monkeypatch.setattr("modelpicker.server.transport.sleep", found.append)
    return found


def test_a_certificate_that_nobody_trusts_is_refused_at_once(server: Running, pauses: list[float]) -> None:
    with (
        listening(forward(server), tls=True) as url,
        mp.Client(url) as client,
        pytest.raises(mp.StorageError, match="certificate verify failed"),
    ):
        client.campaigns()
    assert not pauses, "it will not be trusted the next time, either"


def test_a_certificate_is_trusted_that_the_http_client_trusts(server: Running, name: str) -> None:
    server.client().create_campaign(name, models=MODELS)
    trusting = ssl.create_default_context(cafile=CERTIFICATE)
    with listening(forward(server), tls=True) as url, httpx2.Client(verify=trusting) as http:
        assert mp.Client(url, http_client=http).campaign(name).describe()["models"] == MODELS


@pytest.mark.parametrize("given", ["http_client", "environment"])
def test_calls_go_through_a_proxy(server: Running, name: str, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def proxy(request: bytes) -> bytes:
        line, _, rest = request.partition(b"\r\n")
        method, url, version = line.decode().split()
        asked.append(url)
        path = url.removeprefix("http://picker.invalid")
        rest = rest.replace(b"Host: picker.invalid", b"Host: localhost")
        return forward(server)(f"{method} {path} {version}\r\n".encode() + rest)

    with listening(proxy) as url:
        for variable in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(variable, raising=False)
        if given == "environment":
            monkeypatch.setenv("HTTP_PROXY", url)
            monkeypatch.setenv("http_proxy", url)
        with httpx2.Client(proxy=None if given == "environment" else url) as http:
            own = http if given == "http_client" else None
            with mp.Client("http://picker.invalid", http_client=own) as client:
                client.create_campaign(name, models=MODELS)
    assert asked == ["http://picker.invalid/api/v1/campaigns"]
    assert server.get(f"/campaigns/{name}").status_code == 200


def test_a_server_that_says_nothing_is_given_up_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        client = mp.Client(f"http://127.0.0.1:{deaf.getsockname()[1]}", timeout=0.05, patience=0)
        with pytest.raises(mp.StorageError, match="does not answer: timed out"):
            client.campaigns()


@pytest.mark.parametrize(("asked", "waited"), [("7", 7.0), ("0.5", 0.5), ("1e9", transport.LONGEST_WISH)])
def test_a_server_that_is_busy_is_left_alone_for_as_long_as_it_asks(
    pauses: list[float], asked: str, waited: float
) -> None:
    answers = [reply("503 Busy", f"Retry-After: {asked}"), reply("200 OK")]
    with listening(lambda _: answers.pop(0)) as url, mp.Client(url, patience=10_000) as client:
        assert client.campaigns() == []
    assert pauses == [waited]


@pytest.mark.parametrize("asked", ["soon", "-1", "nan", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_pause_that_makes_no_sense_is_replaced_by_a_short_one(pauses: list[float], asked: str) -> None:
    answers = [reply("429 Slow", f"Retry-After: {asked}"), reply("200 OK")]
    with listening(lambda _: answers.pop(0)) as url, mp.Client(url) as client:
        assert client.campaigns() == []
    assert [0 < pause <= 0.1 for pause in pauses] == [True]


def test_what_never_left_is_not_taken_for_done(server: Running, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = server.client().create_campaign(name, models=MODELS)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # and does not listen yet: the first try is refused
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def serve() -> None:
            caller, _ = listener.accept()
            with closing(caller):
                caller.sendall(forward(server)(read_message(caller)))

        thread = threading.Thread(target=serve)

        def begin(_: float) -> None:
            listener.listen()
            thread.start()

        monkeypatch.setattr("modelpicker.server.transport.sleep", begin)
        with mp.Client(url) as client:
            there = type(campaign)(client._transport, name)
            with pytest.raises(mp.ConflictError, match="'ant'"):
                there.join("ant")
        thread.join(10)


@pytest.mark.parametrize("status", ["502 Bad Gateway", "504 Gateway Timeout"])
def test_what_a_proxy_has_passed_on_without_an_answer_is_done_once(
    server: Running, name: str, status: str, pauses: list[float]
) -> None:
    server.client().create_campaign(name, models=MODELS)
    lost = [reply(status)]

    def proxy(request: bytes) -> bytes:
        answer = forward(server)(request)
        return lost.pop() if lost and request.startswith(b"POST") else answer

    one_by_one = httpx2.Limits(max_keepalive_connections=0)  # the proxy answers once per connection
    with listening(proxy) as url, httpx2.Client(limits=one_by_one) as http:
        campaign = mp.Client(url, http_client=http).campaign(name)
        campaign.join("dog")
        assert campaign.describe()["models"] == [*MODELS, "dog"]
    assert len(pauses) == 1


def test_a_client_that_was_closed_opens_itself_again_and_leaves_a_given_one_open(server: Running) -> None:
    with mp.Client(server.url) as client:
        client.campaigns()
    client.campaigns()
    client.close()
    with httpx2.Client() as http:
        with mp.Client(server.url, http_client=http) as client:
            client.campaigns()
        assert not http.is_closed


@pytest.mark.parametrize("model", ["..", ".", "a/b", "%2E", "ü b", "a?b#c"])
def test_a_model_of_any_name_may_leave(server: Running, name: str, model: str) -> None:
    campaign = server.client().create_campaign(name, models=[model, *MODELS])
    campaign.leave(model)
    assert campaign.describe()["models"] == MODELS


@pytest.mark.parametrize(
    "url",
    ["localhost:8000", "http://", "http://host:x", "http://host:99999", "ftp://host", "http://a\x01b", "", None, 5],
)
def test_an_address_that_is_none_is_refused(url: object) -> None:
    with pytest.raises(mp.InputError, match="pass where the server is") as caught:
        mp.Client(url)  # type: ignore[arg-type]
    assert caught.value.parameter == "url"


@pytest.mark.parametrize("token", ["mp_ü", "mp_x\n", "mp x", 7])
def test_a_token_that_cannot_be_sent_is_refused_and_not_shown(token: object) -> None:
    with pytest.raises(mp.InputError, match="tokens create") as caught:
        mp.Client(token=token)  # type: ignore[arg-type]
    assert str(token) not in str(caught.value)


@pytest.mark.parametrize("given", ["http://proxy", 5, httpx2.AsyncClient, httpx2.AsyncClient()])
def test_what_cannot_send_requests_is_refused(given: object) -> None:
    with pytest.raises(mp.InputError, match=r"pass an httpx2\.Client") as caught:
        mp.Client(http_client=given)  # type: ignore[arg-type]
    assert caught.value.parameter == "http_client"


def test_an_address_may_have_a_path(server: Running) -> None:
    def strip(request: bytes) -> bytes:
        assert request.startswith(b"GET /picker/api/v1/campaigns ")
        return forward(server)(request.replace(b"/picker/api", b"/api", 1))

    with listening(strip) as url, mp.Client(f"{url}/picker/") as client:
        assert isinstance(client.campaigns(), list)
