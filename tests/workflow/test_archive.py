"""The archive of a finished suite: a valid Workflow Run RO-Crate that can be built from."""

import json
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest
import requests
from project import Project, built

pytestmark = pytest.mark.slow
CONTEXT = "https://w3id.org/ro/crate/1.1/context"


@pytest.fixture
def crate(project: Project, tmp_path: Path) -> Project:
    project.run("sharc", "archive", str(tmp_path / "crate.zip"))
    with zipfile.ZipFile(tmp_path / "crate.zip") as packed:
        packed.extractall(tmp_path / "crate")
    return Project(tmp_path / "crate")


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib", "ignore:.*is deprecated")
def test_the_archive_is_a_valid_workflow_run_crate(crate: Project, monkeypatch: pytest.MonkeyPatch):
    issues = validate(crate.folder, monkeypatch)
    assert not issues, issues
    metadata = crate.folder / "ro-crate-metadata.json"
    described = json.loads(metadata.read_text())
    described["@graph"] = [e for e in described["@graph"] if e["@id"] != "Snakefile"]
    metadata.write_text(json.dumps(described))
    assert validate(crate.folder, monkeypatch), "the validator accepts a run without a workflow"


def validate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the validator finds wrong, with every check that is REQUIRED."""
    http = pytest.importorskip("rocrate_validator.utils.http")
    from rocrate_validator import models, services

    monkeypatch.setattr(http.HttpRequester, "get", offline, raising=False)
    wanted = services.ValidationSettings(
        rocrate_uri=str(folder),
        profile_identifier="workflow-run-crate",
        requirement_severity=models.Severity.REQUIRED,
    )
    result = services.validate(wanted)
    return [f"{issue.check.identifier}: {issue.message}" for issue in result.get_issues()]


def offline(_: object, url: str, **__: object) -> requests.Response:
    """The one document the validator wants to fetch: the JSON-LD context of RO-Crate 1.1.

    The later one that comes with `rocrate` stands in for it; of the terms used here only the
    workflow's type had another address in 1.1.
    """
    assert url == CONTEXT
    context = json.loads((files("rocrate") / "data/ro-crate.jsonld").read_text())
    context["@context"]["ComputationalWorkflow"] = "https://bioschemas.org/ComputationalWorkflow"
    answer = requests.Response()
    answer.status_code, answer.url = 200, url
    answer.headers["Content-Type"] = "application/ld+json"
    answer._content = json.dumps(context).encode()
    return answer


def test_another_folder_can_be_rebuilt_from_the_archive(finished: Project, crate: Project):
    assert "Nothing to be done" in crate.run("snakemake", "--cores", "2", "-n", "all")
    (crate.folder / "outputs/results/summary.csv").unlink()
    assert built(crate.snakemake()) == {"collect:all"}
    assert crate.results() == finished.results()


def test_an_unfinished_suite_is_not_archived(project: Project, tmp_path: Path):
    (project.folder / "outputs/results/summary.csv").unlink()
    output = project.run("sharc", "archive", str(tmp_path / "crate.zip"), code=2)
    assert "only a finished suite can be archived, and collect:all is not current" in output
    assert not (tmp_path / "crate.zip").exists()
