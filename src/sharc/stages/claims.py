"""Stage claims: the paper's checkable sentences -> verdicts, as JSON and Markdown."""

from pathlib import Path
from typing import Any

from sharc.artifacts.files import write_json, write_text
from sharc.claims import registry
from sharc.claims.evidence import Evidence
from sharc.claims.scope import of_the_paper
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper
from sharc.results.verdicts import VERDICTS
from sharc.tables.render import pipes


def build(
    results: Path,
    claims_yaml: Path,
    paper_csv: Path,
    figure1: Path | None,
    out_json: Path,
    out_md: Path,
    *,
    layout: dict[str, Any],
) -> None:
    """Evaluate every entry of `claims_yaml` on our runs and on the paper's own numbers."""
    ours, narrow = of_the_paper(Results(results), Layout.of(layout))
    evidence = Evidence(ours, narrow, Paper(paper_csv), figure1)
    found = [registry.evaluate(evidence, claim) for claim in registry.read(claims_yaml)]
    counts = {verdict: sum(c["verdict"] == verdict for c in found) for verdict in VERDICTS}
    write_json(out_json, {"counts": counts, "claims": found})
    write_text(out_md, _markdown(found, counts))


def _markdown(found: list[dict[str, Any]], counts: dict[str, int]) -> str:
    total = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    lines = [
        "# The paper's claims, checked\n",
        f"{len(found)} sentences: {total}.",
        "Intervals are over seeds; the rule for each kind of sentence follows the table.",
        "The last column asks whether the paper's own printed numbers support the sentence.\n",
    ]
    heads = ["Claim", "Section", "Verdict", "What we found", "The paper's own numbers"]
    rows = []
    for claim in found:
        paper = claim["paper"]
        said = "-" if paper is None else f"{paper['verdict']}: {paper['text']}"
        rows.append(
            [claim["says"], claim["section"], f"**{claim['verdict']}**", claim["text"], said]
        )
    lines.append(pipes(heads, rows).rstrip("\n"))
    rules = dict.fromkeys(claim["rule"] for claim in found)
    lines += ["\n## How a verdict is reached\n", *(f"- {rule}" for rule in rules)]
    return "\n".join(lines) + "\n"
