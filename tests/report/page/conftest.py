"""Reports as files."""

import pytest

from tests.report.page.making import make_content
from veilmap.report.page.page import write_page


@pytest.fixture(scope="session")
def town_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "audit.html"
    write_page(make_content(), path)
    return path


@pytest.fixture(scope="session")
def redacted_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "redacted.html"
    write_page(make_content(with_ground=False), path)
    return path
