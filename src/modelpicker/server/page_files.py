"""The files of the page: read once, compressed once, and sent so that a browser keeps them.

The address of a file has the digest of all files in it (`static/DIGEST/main.js`). What is at such an address never
changes, so browsers keep it and do not ask again. Modules import one another by relative paths, so a page is never
put together from two versions. Only `index.html`, which names the digest, is asked for each time.

Comments are a third of what a compressed script weighs, and are not sent. Their lines stay, so that an error in the
browser names the line that is in the repository.
"""

import gzip
import hashlib
import re
from dataclasses import dataclass, field
from mimetypes import guess_type
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from modelpicker.server.api.problems import Problem
from modelpicker.server.network.compression import accepts_gzip

STATIC = Path(__file__).parent / "static"
INDEX = "index.html"
KEPT = "public, max-age=31536000, immutable"
# Asked for each time, and sent again only if it has changed.
ASKED_AGAIN = "no-cache"
# Systems differ in what they call a script, and a browser runs no script that is called otherwise.
SCRIPTS = {".js", ".mjs"}
# A comment that has its lines for itself. Those that follow something stay: telling them from text takes a parser.
COMMENT = re.compile(r"^[ \t]*/\*(?:(?!\*/)[\s\S])*\*/[ \t]*$|^[ \t]*//.*$", re.MULTILINE)
COMMENTED = {".js", ".css"}
DIGEST_LENGTH = 16


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file as it is sent."""

    plain: bytes
    media_type: str
    packed: bytes = field(init=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "packed", gzip.compress(self.plain, 9, mtime=0))
        object.__setattr__(self, "digest", hashlib.sha256(self.plain).hexdigest()[:DIGEST_LENGTH])

    def response(self, request: Request, cache: str) -> Response:
        """The file, compressed where the client understands that; nothing where it has the file already."""
        packed = accepts_gzip(request) and len(self.packed) < len(self.plain)
        tag = f'"{self.digest}{"-gzip" if packed else ""}"'
        headers = {"Cache-Control": cache, "Vary": "Accept-Encoding"}
        if cache != KEPT:
            headers["ETag"] = tag
        if tag in _tags(request):
            return Response(status_code=304, headers=headers)
        if packed:
            headers["Content-Encoding"] = "gzip"
        return Response(self.packed if packed else self.plain, 200, headers, self.media_type)


class PageFiles:
    """All files of the page."""

    def __init__(self, folder: Path = STATIC) -> None:
        files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
        self.files = {name: PageFile(_content(path), _media_type(path)) for name, path in files.items()}
        everything = "".join(f"{name} {one.digest}\n" for name, one in self.files.items())
        self.digest = hashlib.sha256(everything.encode()).hexdigest()[:DIGEST_LENGTH]
        index = self.files[INDEX].plain.replace(b'"static/', f'"static/{self.digest}/'.encode())
        self.index = PageFile(index, "text/html; charset=utf-8")

    async def send_index(self, request: Request) -> Response:
        """The page itself."""
        return self.index.response(request, ASKED_AGAIN)

    async def send(self, request: Request) -> Response:
        """A file of the page, by its path with or without the digest."""
        path: str = request.path_params["path"]
        digest, _, name = path.partition("/")
        if digest == self.digest and name in self.files:
            return self.files[name].response(request, KEPT)
        if path in self.files:
            return self.files[path].response(request, ASKED_AGAIN)
        raise Problem(404, "There is no such file. If the server was updated, reload the page.")


def _content(path: Path) -> bytes:
    """What is sent of a file; libraries are sent as they are, with their licences."""
    if path.suffix not in COMMENTED or path.parent.name == "vendor":
        return path.read_bytes()
    return COMMENT.sub(lambda found: "\n" * found[0].count("\n"), path.read_text("utf-8")).encode()


def _tags(request: Request) -> set[str]:
    given = request.headers.get("if-none-match", "")
    return {tag.strip().removeprefix("W/") for tag in given.split(",")}


def _media_type(path: Path) -> str:
    if path.suffix in SCRIPTS:
        return "text/javascript; charset=utf-8"
    found = guess_type(path.name)[0] or "application/octet-stream"
    return f"{found}; charset=utf-8" if found.startswith("text/") else found
