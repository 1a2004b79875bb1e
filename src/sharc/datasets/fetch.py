"""Downloads that resume where they stopped and count only once their checksum is right."""

from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tqdm import tqdm

from sharc.artifacts.files import checksum, explained
from sharc.errors import UserError

_BLOCK = 1 << 18
_TIMEOUT_S = 30
_PARTIAL_CONTENT, _RANGE_REFUSED = 206, 416


def fetch(url: str, target: Path, kind: str, right: str) -> Path:
    """`target` with checksum `right`, downloaded if need be; until then it is called *.part."""
    if target.is_file():
        if checksum(target, kind) == right:
            return target
        target.unlink()  # changed since it was downloaded: it must not be used again
    part = target.with_name(target.name + ".part")
    with explained(part):
        part.parent.mkdir(parents=True, exist_ok=True)
        _receive(url, part)
        found = checksum(part, kind)
        if found != right:
            part.unlink()
            raise UserError(f"{url} is not the published file: {kind} {found}, not {right}")
        part.replace(target)
    return target


def _receive(url: str, part: Path) -> None:
    """Append the missing rest of `url` to `part`."""
    have = part.stat().st_size if part.is_file() else 0
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urlopen(request, timeout=_TIMEOUT_S) as answer:
            _append(answer, part, have if answer.status == _PARTIAL_CONTENT else 0)
    except HTTPError as error:
        if error.code != _RANGE_REFUSED or not have:  # 416: nothing is missing any more
            raise UserError(f"{url} answers {error.code} {error.reason}") from None
    except (URLError, TimeoutError, ConnectionError, HTTPException) as error:
        raise UserError(f"{url} cannot be reached ({error}); run again to continue") from None


def _append(answer: Any, part: Path, have: int) -> None:
    """Write the answer's body after the first `have` bytes, with a bar on a terminal."""
    length = int(answer.headers.get("Content-Length") or 0)
    with (
        part.open("ab" if have else "wb") as handle,
        tqdm(
            total=have + length or None,
            initial=have,
            unit="B",
            unit_scale=True,
            disable=None,
            desc=part.stem,
        ) as bar,
    ):
        got = 0
        while block := answer.read(_BLOCK):
            handle.write(block)
            got += len(block)
            bar.update(len(block))
    if length and got < length:
        raise ConnectionError(f"{got} of {length} bytes arrived")
