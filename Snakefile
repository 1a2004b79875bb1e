"""From source to report, one rule per stage, each declared in src/sharc/pipeline/<stage>.py:
    snakemake --cores 8 all --config suite=offline   a suite; by default params.yaml chooses it
    snakemake --cores 8 outputs/report.html          any artifact, or a folder of them
Content, not times, decides what is current; `update` keeps what a job need not rebuild.
"""

from sharc.entry.snakefile import start

suite = start(workflow, config.get("suite"))


report: "docs/captions/workflow.rst"


wildcard_constraints:
    **dict.fromkeys(["dataset", "split", "backbone", "method", "memory"], "[^/]+"),


rule all:
    input:
        suite.files("report", "ladder"),


rule job:  # what all stages have in common
    resources:
        **suite.resources("other"),
    params:
        suite=suite.name,
        why=suite.why,
    message:
        "{params.why}"
    shell:
        "python -m sharc.entry.job {output[0]} --suite {params.suite}"
        " --threads {threads} --log {log}"


use rule job as training with:  # and what those that train add
    priority: 1
    threads: suite.threads("train")
    resources:
        **suite.resources("train"),


use rule job as download with:
    input:
        "params.yaml",
    output:
        update("data/raw/{dataset}/meta.json"),
    log:
        "outputs/logs/download/{dataset}.log",


use rule job as split with:
    input:
        suite.needs("split"),  # data/raw/<dataset>
    output:
        update("data/splits/{split}.json"),
    log:
        "outputs/logs/split/{split}.log",


use rule job as features with:
    input:
        "data/raw/{dataset}/meta.json",
    output:
        update("outputs/features/{dataset}/{backbone}/meta.json"),
    log:
        "outputs/logs/features/{dataset}/{backbone}.log",
    priority: 2  # these take all cores, which are never all free once training has begun
    threads: suite.threads("features")
    resources:
        **suite.resources("features"),


use rule training as streamed with:
    input:
        suite.needs("streamed"),  # data/raw/<dataset> and data/splits/<split>.json
    output:
        update("outputs/streamed/{split}/{backbone}/meta.json"),
    log:
        "outputs/logs/streamed/{split}/{backbone}.log",
    priority: 2


use rule training as train with:
    input:
        split="data/splits/{dataset}.json",
        features=f"outputs/{suite.trained_on}/{{dataset}}/{{backbone}}/meta.json",
    output:
        update("outputs/runs/{dataset}/{backbone}/{method}/{memory}.receipt.json"),
    log:
        "outputs/logs/train/{dataset}/{backbone}/{method}/{memory}.log",
    priority: suite.longest_first("train")


use rule job as figure1 with:
    input:
        "data/raw/{dataset}/meta.json",
    output:
        update("outputs/figure1/{dataset}/figure1.json"),
    log:
        "outputs/logs/figure1/{dataset}.log",


use rule training as rungs with:
    input:
        suite.needs("rungs"),  # data/splits/<dataset>@ladder.json and its features
    output:
        update("outputs/rungs/{dataset}/{method}/receipt.json"),
    log:
        "outputs/logs/rungs/{dataset}/{method}.log",


use rule job as ladder with:
    input:
        suite.files("rungs"),
        "data/paper/results.csv",
    output:
        update("outputs/ladder/ladder.md"),
    log:
        "outputs/logs/ladder.log",


use rule training as specified with:
    input:
        suite.needs("specified"),  # data/splits/<split>.json and its features
    output:
        update("outputs/specified/{split}/{backbone}/receipt.json"),
    log:
        "outputs/logs/specified/{split}/{backbone}.log",
    priority: suite.longest_first("specified")


use rule job as specifications with:
    input:
        suite.files("specified"),
        "data/paper/claims.yaml",
    output:
        update("outputs/specifications/index.json"),
    log:
        "outputs/logs/specifications.log",


use rule job as collect with:
    input:
        suite.files("train"),
        suite.external,
    output:
        update("outputs/results/summary.csv"),
    log:
        "outputs/logs/collect.log",


use rule job as tables with:
    input:
        "outputs/results/summary.csv",
        "data/paper/results.csv",
    output:
        update("outputs/tables/comparison.md"),
        report(update(suite.shown("tables")), **suite.caption("tables.rst")),
    log:
        "outputs/logs/tables.log",


use rule job as figures with:
    input:
        "outputs/results/summary.csv",
        suite.files("figure1"),
        "data/paper/results.csv",
    output:
        update("outputs/figures/index.json"),
        report(update(suite.shown("figures")), **suite.caption("figures.rst")),
    log:
        "outputs/logs/figures.log",


use rule job as claims with:
    input:
        "outputs/results/summary.csv",
        suite.files("figure1"),
        "data/paper/results.csv",
        "data/paper/claims.yaml",
    output:
        update("outputs/claims.json"),
        update("outputs/claims.md"),
    log:
        "outputs/logs/claims.log",


use rule job as report with:
    input:
        suite.files("tables", "figures", "claims", "ladder", "specifications"),
    output:
        report(update("outputs/report.html"), **suite.caption("report.rst")),
    log:
        "outputs/logs/report.log",


onsuccess:
    suite.finish(workflow)
