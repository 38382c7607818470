"""The system's Chromium, and pages opened in it from the disk, without a network."""

import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pytest

LIMIT_MS = 60_000  # a busy machine is slow, and that is no fault of a page
NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Opened:
    """A page in the browser, and what it did."""

    page: object
    address: str
    requests: list = field(default_factory=list)
    errors: list = field(default_factory=list)

    @cached_property
    def others(self):
        return [each for each in self.requests if each != self.address]

    def settle(self):
        """Two frames, so that all that is due has been drawn."""
        self.page.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def canvases(self):
        """What is drawn on the map, without the smoothing that differs from look to look."""
        self.settle()
        return self.page.evaluate(
            "[...document.querySelectorAll('#map canvas')].map(each => each.toDataURL())"
        )

    def picture(self, selector="#map"):
        """What the reader sees."""
        self.settle()
        return self.page.locator(selector).screenshot()


@pytest.fixture(scope="session")
def browser():
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"none of {', '.join(NAMES)} is here; install one: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    sync_api.expect.set_options(timeout=LIMIT_MS)
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_file(browser):
    """Opens a file; at the end nothing but that file was asked for, and no script failed."""
    contexts, every = [], []

    def open_one(path, **settings):
        width = settings.pop("width", 1200)
        context = browser.new_context(viewport={"width": width, "height": 800}, **settings)
        contexts.append(context)
        opened = Opened(context.new_page(), Path(path).as_uri())
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
        opened.page.on("console", lambda line: _note(opened, line))
        opened.page.set_default_timeout(LIMIT_MS)
        opened.page.goto(opened.address)
        opened.settle()
        every.append(opened)
        return opened

    yield open_one
    for context in contexts:
        context.close()
    for opened in every:
        assert opened.errors == []
        assert opened.others == []


def _note(opened, line):
    if line.type in ("error", "warning"):
        opened.errors.append(line.text)
