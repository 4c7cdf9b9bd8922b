"""Numbers that no field can hold: each is refused by name, and none is more than the server can bear."""

import inspect
import json
import socket
import threading

import pytest

import modelpicker as mp
from modelpicker.algorithms import ALGORITHMS
from modelpicker.server.configuration import Configuration
from tests.server.servers import API, Running

HUGE = "1" + "0" * 1000
NEVER = {  # no field takes these
    "a thousand digits": HUGE,
    "a thousand digits below zero": f"-{HUGE}",
    "five thousand digits": "9" * 5000,
    "1e400": "1e400",
    "a string": '"1e999"',
    "true": "true",
}
SELDOM = {
    "not a number": "NaN",
    "minus zero": "-0.0",
    "2**63": str(2**63),
    "2**64": str(2**64),
    "-1": "-1",
    "1e308": "1e308",
}
VALUES = NEVER | SELDOM

OPTIONS = [
    (name, option)
    for name, kind in ALGORITHMS.items()
    for option in inspect.signature(kind.__init__).parameters
    if option not in ("self", "models", "seed", "predict", "recommend")
]
# Where a number goes, by the field that an error has to name.
CREATED = {
    "models": '"models": @',
    "budget": '"models": 3, "budget": @',
    "expected_rounds": '"models": 3, "budget": 3, "expected_rounds": @',
    "seed": '"models": 3, "seed": @',
    "gap": '"models": 3, "stop_when": {"gap": @}',
    "confidence": '"models": 3, "stop_when": {"confidence": @}',
}
SENT = {
    ("leases", "most"): '{"most": @}',
    ("leases", "seconds"): '{"seconds": @}',
    ("retractions", "lease"): '{"id": 0, "lease": @}',
}
NAMES = {  # a string is a name as well, and a large number may be one
    "labels, id": ("labels", '{"id": @, "label": 1}'),
    "labels, label": ("labels", '{"id": 0, "label": @}'),
    "batch, id": ("labels/batch", '{"labels": [[@, 1]]}'),
    "batch, label": ("labels/batch", '{"labels": [[0, @]]}'),
    "skips": ("skips", '{"id": @}'),
    "retractions": ("retractions", '{"id": @}'),
    "rounds": ("rounds", '{"predictions": [0, @, 1]}'),
    "rounds by name": ("rounds", '{"predictions": {"0": 0, "1": @, "2": 1}}'),
    "items": ("rounds", '{"predictions": [0, 1, 1], "item": {"x": [@]}}'),
    "batches": ("rounds/batch", '{"predictions": [[0, @, 1]]}'),
    "models": ("models", '{"model": @}'),
}
QUERIES = {
    "most": "queries?most=@",
    "confidence": "certificate?confidence=@",
    "after": "history?after=@",
    "most of a history": "history?most=@",
    "id": "history?id=@",
}


@pytest.fixture
def path(server: Running, name: str) -> str:
    """A campaign whose rounds are all queried."""
    sure = {"algorithm": "label-efficient", "options": {"probability": 1.0}}
    server.post("/campaigns", {"name": name, "models": 3, **sure}).raise_for_status()
    server.post(f"/campaigns/{name}/rounds", {"predictions": [0, 1, 1]}).raise_for_status()
    return f"/campaigns/{name}"


def post(server: Running, path: str, body: str) -> tuple[int, str]:
    """The status of an answer, and what a problem says."""
    answer = server.http.post(f"{API}{path}", content=body, headers={"Content-Type": "application/json"})
    return answer.status_code, answer.json().get("detail", "")


def still_works(server: Running, path: str) -> None:
    for part in ("", "/standing", "/charts", "/history", "/answers", "/classes", "/queries", "/export"):
        assert server.get(f"{path}{part}").status_code == 200, part


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize(("algorithm", "option"), OPTIONS, ids=[f"{one}.{other}" for one, other in OPTIONS])
def test_an_option_of_an_algorithm_is_taken_and_works_or_is_refused_by_name(
    server: Running, name: str, algorithm: str, option: str, value: str
) -> None:
    body = f'{{"name": "{name}", "models": 3, "algorithm": "{algorithm}", "options": {{"{option}": {value}}}}}'
    status, detail = post(server, "/campaigns", body)
    if status == 201:
        assert value in SELDOM.values()
        for row in ("[0, 1, 1]", "[1, 0, 1]"):
            assert post(server, f"/campaigns/{name}/rounds", f'{{"predictions": {row}}}')[0] == 200
        still_works(server, f"/campaigns/{name}")
    else:
        assert status in (400, 422)
        assert option in detail or "JSON" in detail
        assert server.get(f"/campaigns/{name}").status_code == 404


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("field", CREATED)
def test_a_setting_of_a_campaign_is_taken_or_refused_by_name(
    server: Running, name: str, field: str, value: str
) -> None:
    status, detail = post(server, "/campaigns", f'{{"name": "{name}", {CREATED[field].replace("@", value)}}}')
    assert status in (400, 422) or (status == 201 and value in SELDOM.values())
    assert status == 201 or field in detail or "JSON" in detail


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize(("verb", "field"), SENT)
def test_a_number_of_a_request_is_taken_or_refused_by_name(
    server: Running, path: str, verb: str, field: str, value: str
) -> None:
    post(server, f"{path}/labels", '{"id": 0, "label": 1}')
    status, detail = post(server, f"{path}/{verb}", SENT[verb, field].replace("@", value))
    assert status in (400, 422) or (status == 200 and value in SELDOM.values())
    assert status == 200 or field in detail or "JSON" in detail
    still_works(server, path)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize(("verb", "body"), NAMES.values(), ids=NAMES)
def test_a_number_that_is_a_name_does_no_harm(server: Running, path: str, verb: str, body: str, value: str) -> None:
    status, detail = post(server, f"{path}/{verb}", body.replace("@", value))
    assert status in (200, 400, 404, 409, 422)
    assert status == 200 or detail
    still_works(server, path)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_number_in_an_address_is_refused_by_name(server: Running, path: str, query: str, value: str) -> None:
    answer = server.get(f"{path}/{query.replace('@', value.strip(chr(34)))}")
    assert answer.status_code in (200, 404, 422)
    assert answer.status_code != 200 or value in SELDOM.values()
    if answer.status_code == 422:
        assert query.partition("?")[2].partition("=")[0] in answer.json()["detail"]


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("line", ['{"0": @, "1": 1, "2": 0}', '{"id": @, "0": 1, "1": 1, "2": 0}', "@,1,@"])
def test_a_number_in_a_file_is_taken_or_refused(server: Running, path: str, line: str, value: str) -> None:
    text = line.replace("@", value) + "\n"
    filename, content = ("a.jsonl", text) if line.startswith("{") else ("a.csv", f"0,1,2\n{text}")
    for address in ("/files", f"{path}/files"):
        answer = server.http.post(f"{API}{address}?filename={filename}", content=content.encode())
        assert answer.status_code in (200, 422), answer.text
    still_works(server, path)


@pytest.mark.parametrize("value", [10**1000, -(10**1000), 2**64, float("inf"), float("nan"), "1", True, None])
@pytest.mark.parametrize("field", ["port", "largest_body", "largest_file"])
def test_a_setting_of_the_server_has_bounds(field: str, value: object) -> None:
    settings = {"storage": "memory://", field: value}
    with pytest.raises(mp.InputError, match=field) as caught:
        Configuration(**settings).check()  # type: ignore[arg-type]
    assert caught.value.parameter == field


@pytest.mark.parametrize("value", [10**1000, -1, float("inf"), float("nan"), "1e999", True, None])
@pytest.mark.parametrize("field", ["timeout", "patience"])
def test_how_long_a_client_waits_has_bounds(field: str, value: object) -> None:
    with pytest.raises(mp.InputError, match=f"{field}=.* seconds, from") as caught:
        mp.Client(**{field: value})  # type: ignore[arg-type]
    assert caught.value.parameter == field


@pytest.mark.parametrize("port", ["99999", "9" * 1000, "-1", "x", "1e3"])
def test_a_port_that_is_none_is_an_error_of_the_address(port: str) -> None:
    with pytest.raises(mp.InputError, match="pass where the server is"):
        mp.Client(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize("wish", ["nan", "-1", "9" * 1000, "1e400", "Wed, 21 Oct 2015 07:28:00 GMT", "soon"])
def test_whatever_a_server_asks_to_wait_a_client_is_patient_as_long_as_it_was_told_to_be(wish: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_refuse_once, args=(listener, wish), daemon=True).start()
        with pytest.raises(mp.StorageError, match="later"):
            mp.Client(f"http://127.0.0.1:{listener.getsockname()[1]}", patience=0).campaigns()


def _refuse_once(listener: socket.socket, wish: str) -> None:
    opened, _ = listener.accept()
    with opened:
        opened.recv(2**16)
        body = json.dumps({"detail": "later"})
        head = f"HTTP/1.1 503 No\r\nRetry-After: {wish}\r\nContent-Length: {len(body)}\r\n\r\n"
        opened.sendall(f"{head}{body}".encode())
