"""What a package index has: the wheels of a version, with their hashes and sizes."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from urllib.error import URLError
from urllib.parse import unquote, urljoin
from urllib.request import Request, urlopen

from packaging.tags import Tag
from packaging.utils import parse_wheel_filename

PUBLIC = "https://pypi.org/simple"
TORCH_FOR_CPUS = "https://download.pytorch.org/whl/cpu"
TIMEOUT_S = 60
JOBS = 8


@dataclass(frozen=True)
class Wheel:
    """One file of a distribution."""

    tags: frozenset[Tag]
    sha256: str
    url: str


def wheels(name, version, index=PUBLIC):
    """The wheels of one version."""
    return [
        Wheel(parse_wheel_filename(file)[3], sha256, url)
        for file, sha256, url in _files(name, index=index)
        if file.endswith(".whl") and file.split("-")[1] == version
    ]


def ask_for(names):
    """Ask for the pages of all these distributions at once; one after the other takes a minute."""
    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(partial(_files, index=PUBLIC), names))


@cache
def _files(name, index):
    """Name, hash and address of every file of a distribution."""
    page_url = f"{index}/{name}/"
    try:
        with urlopen(page_url, timeout=TIMEOUT_S) as page:
            text = page.read().decode()
    except URLError as error:
        raise UnreachableError(f"{page_url}: {error}") from error
    links = re.findall(r'href="([^"#]+)#sha256=([0-9a-f]{64})"', text)
    urls = ((urljoin(page_url, link), sha256) for link, sha256 in links)
    return [(unquote(url.rsplit("/", 1)[1]), sha256, url) for url, sha256 in urls]


class UnreachableError(Exception):
    """An index that does not answer."""


def size_mb(urls):
    """Of all these files together, as the servers say without sending them."""
    with ThreadPoolExecutor(JOBS) as pool:
        return round(sum(pool.map(_size, urls)) / 1e6)


def _size(url):
    with urlopen(Request(url, method="HEAD"), timeout=TIMEOUT_S) as answer:
        return int(answer.headers["Content-Length"])
