"""How the files of the page are sent: compressed, kept by content, and never of two versions."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelpicker.server.page_files import STATIC, PageFiles
from tests.server.raw import head, send
from tests.server.servers import Running, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('page')}/campaigns.db") as running:
        yield running


def scripts(server: Running) -> list[str]:
    """The addresses of the scripts that the page names."""
    return re.findall(r'(?:href|src)="(static/[^"]+js)"', server.http.get("/").text)


def test_every_file_that_the_page_names_is_compressed_and_kept(server: Running) -> None:
    named = scripts(server)
    assert len(named) > 20
    for address in named:
        answer = server.http.get(f"/{address}")
        assert answer.status_code == 200
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_the_page_itself_is_asked_for_each_time_and_sent_only_if_it_changed(server: Running) -> None:
    first = server.http.get("/")
    assert first.headers["cache-control"] == "no-cache"
    again = server.http.get("/", headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert server.http.get("/", headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip", True),
        ("br, gzip;q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0, *", False),
        ("br", False),
        ("", False),
    ],
)
def test_a_client_gets_only_what_it_understands(server: Running, accepted: str, packed: bool) -> None:
    answer = send(server, head("/static/main.js", accept_encoding=accepted))
    assert ("content-encoding" in answer.headers) is packed
    plain = gzip.decompress(answer.body) if packed else answer.body
    assert b"import" in plain
    assert answer.headers["etag"].endswith('-gzip"') is packed


def test_a_file_of_another_version_is_not_mixed_in(server: Running) -> None:
    address = scripts(server)[0]
    digest = address.split("/")[1]
    gone = server.http.get("/" + address.replace(digest, "0" * len(digest)))
    assert gone.status_code == 404
    assert "reload the page" in gone.json()["detail"]
    for path in ("/static/", "/static/../app.py", "/static/%2e%2e/app.py", f"/static/{digest}", "/static//main.js"):
        assert server.http.get(path).status_code == 404


def test_a_change_of_any_file_changes_every_address(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "index.html").write_text('<script type="module" src="static/main.js"></script>')
    (tmp_path / "main.js").write_text("import './lib/a.js';\n")
    (tmp_path / "lib" / "a.js").write_text("export const a = 1;\n")
    before = PageFiles(tmp_path)
    assert f'src="static/{before.digest}/main.js"' in before.index.plain.decode()
    (tmp_path / "lib" / "a.js").write_text("export const a = 2;\n")
    after = PageFiles(tmp_path)
    assert after.digest != before.digest
    assert after.index.digest != before.index.digest


def test_comments_are_not_sent_and_every_line_keeps_its_number() -> None:
    files = PageFiles().files
    for name in ("views/label.js", "css/base.css"):
        sent, written = files[name].plain.decode(), (STATIC / name).read_text()
        assert sent.count("\n") == written.count("\n")
        assert not re.search(r"^\s*(//|/\*)", sent, re.MULTILINE)
        code = [line for line in written.splitlines() if re.match(r"\s*(import|export|const|:root|@media)\b", line)]
        assert code
        assert set(code) <= set(sent.splitlines())


def test_code_after_a_comment_on_its_line_stays(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("")
    (tmp_path / "a.js").write_text("/** one */ const a = 1;\nconst b = 'a // b'; // two\n/* three */\n// four\n")
    sent = PageFiles(tmp_path).files["a.js"].plain.decode()
    assert sent == "/** one */ const a = 1;\nconst b = 'a // b'; // two\n\n\n"


def test_long_answers_of_the_api_are_compressed_and_short_ones_are_not(server: Running) -> None:
    long = server.get("/openapi.json")
    assert long.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in long.headers["vary"]
    assert "openapi" in long.json()
    assert "content-encoding" not in server.get("/session").headers


def test_live_events_come_compressed_and_can_be_read_as_they_come(server: Running) -> None:
    server.client().create_campaign("live", models=["ant", "bee"])
    path = "/api/v1/campaigns/live/live"
    seen = {}
    for accepted in ("gzip", "identity"):
        with server.http.stream("GET", path, headers={"Accept-Encoding": accepted}) as answer:
            assert answer.headers["vary"] == "Accept-Encoding"
            assert (answer.headers.get("content-encoding") == "gzip") is (accepted == "gzip")
            seen[accepted] = next(line for line in answer.iter_lines() if line.startswith("data:"))
    assert seen["gzip"] == seen["identity"]
