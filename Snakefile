"""The graph: one rule per family, from source to report.

Units, their inputs and their code are defined once, in sharc.workflow.families; dvc.yaml is
generated from the same definition. What is current is decided by content: before the graph is
built, each current unit is given a stamp newer than all it reads, each other one loses its stamp.
"""

from sharc.workflow.door import open_door

door = open_door(config.get("suite"), main_process=workflow.is_main_process)


report: "docs/captions/workflow.rst"


wildcard_constraints:
    unit="[^/]+",


rule all:
    default_target: True
    input:
        door.stamps("report"),


for family in door.families:

    rule:
        name:
            f"all_{family}"
        input:
            door.stamps(family),

    rule:
        name:
            family
        input:
            needs=door.needs(family),
            code=door.sources(family),
        output:
            door.stamp_pattern(family),
        log:
            f"outputs/logs/{family}/{{unit}}.log",
        threads: door.resource(family, "threads")
        resources:
            mem_mb=door.resource(family, "mem_mb"),
            runtime=door.resource(family, "runtime"),
            gpu=door.resource(family, "gpu"),
            cpus_per_task=door.resource(family, "threads"),
        params:
            family=family,
            suite=door.suite,
            unit=lambda wildcards: wildcards.unit.replace("--", "/"),
        shell:
            "python -m sharc.workflow.job {params.family} {params.unit} --suite {params.suite}"
            " --threads {threads} --log {log}"


# Not part of `all`: copies for Snakemake's own report,
#   snakemake --cores 1 showcase && snakemake showcase --report showcase.html
rule showcase:
    input:
        door.stamps("report"),
    output:
        report(
            directory(".sharc/showcase/figures"),
            patterns=["{figure}.png"],
            caption="docs/captions/figures.rst",
            category="Figures",
        ),
        report(
            directory(".sharc/showcase/tables"),
            patterns=["{table}.html"],
            caption="docs/captions/tables.rst",
            category="Tables",
        ),
        report(
            ".sharc/showcase/report.html",
            caption="docs/captions/report.rst",
            category="Report",
        ),
    params:
        suite=door.suite,
    shell:
        "mkdir -p {output[0]} {output[1]} && cp outputs/figures/*.png {output[0]}"
        " && cp outputs/tables/*.html {output[1]} && cp outputs/report.html {output[2]}"


onsuccess:
    door.record()


onerror:
    door.explain_failure()
