import io
import zipfile

import pytest
from flwr.cli.build import build_fab_from_files
from flwr.common.config import get_fused_config_from_fab
from flwr.supercore.run import Run

from veilmap.errors import UserError
from veilmap.flower.machines.bundle import ForeignBundleError, build, project, refuse_foreign

SETTINGS = {"rounds": 3, "eta": 1e-5, "secure": True, "out": 'C:\\a "b"\nc', "learning-rate": 0.5}


def test_our_own_bundle_is_accepted():
    refuse_foreign(build(SETTINGS))


def test_settings_arrive_as_they_were_given():
    assert get_fused_config_from_fab(build(SETTINGS), Run.create_empty(1)) == SETTINGS


def test_the_same_settings_give_the_same_bundle():
    assert build(SETTINGS) == build(dict(SETTINGS))


@pytest.mark.parametrize(
    "extra",
    ["sitecustomize.py", "veilmap/flower/client_app.py", "veilmap.py", "a/b.py", "README.md"],
)
def test_a_bundle_with_any_other_file_is_foreign(extra):
    files = {"pyproject.toml": project({}).encode(), extra: b"print('foreign')"}
    with pytest.raises(ForeignBundleError, match="it holds"):
        refuse_foreign(build_fab_from_files(files)[0])


@pytest.mark.parametrize("ours", ["client_app:app", "server_app:app"])
@pytest.mark.parametrize("theirs", ["client_app:other", "os:system", "subprocess:run"])
def test_a_bundle_that_names_other_code_is_foreign(ours, theirs):
    text = project({}).replace(f"veilmap.flower.{ours}", theirs)
    with pytest.raises(ForeignBundleError, match="it names"):
        refuse_foreign(build_fab_from_files({"pyproject.toml": text.encode()})[0])


def test_a_bundle_with_an_agent_is_foreign():
    text = project({}).replace("serverapp = ", 'agentapp = "os:system"\nserverapp = ')
    with pytest.raises(ForeignBundleError, match="it names"):
        refuse_foreign(archive({"pyproject.toml": text, ".info/CONTENT": ""}))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_second_project_behind_the_first_is_foreign():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for text in (project({}), project({}).replace("veilmap.flower", "foreign")):
            file.writestr("pyproject.toml", text)
        file.writestr(".info/CONTENT", "")
    with pytest.raises(ForeignBundleError, match="it holds"):
        refuse_foreign(content.getvalue())


def test_a_file_that_unpacks_to_megabytes_is_foreign():
    bomb = project({}) + "#" * 2**20
    with pytest.raises(ForeignBundleError, match="too large"):
        refuse_foreign(archive({"pyproject.toml": bomb, ".info/CONTENT": ""}))


@pytest.mark.parametrize("text", ["", "x =", "tool = 1", "[tool.flwr]\napp = []", "\x00"])
def test_a_project_that_cannot_be_read_is_foreign(text):
    with pytest.raises(ForeignBundleError, match="cannot be read"):
        refuse_foreign(archive({"pyproject.toml": text, ".info/CONTENT": ""}))


@pytest.mark.parametrize("content", [b"", b"no archive", build({})[:-30]])
def test_what_is_no_archive_is_foreign(content):
    with pytest.raises(ForeignBundleError, match="cannot be read"):
        refuse_foreign(content)


@pytest.mark.parametrize(
    "settings", [{"a b": 1}, {"": 1}, {"a]\n[x": 1}, {"a": float("nan")}, {"a": float("inf")}]
)
def test_a_setting_that_toml_cannot_have_is_refused(settings):
    with pytest.raises(UserError, match="must be a plain name with a finite value"):
        build(settings)


def archive(files: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in files.items():
            file.writestr(name, text)
    return content.getvalue()
