"""The graph: one rule per family, from source to report.

Units, their inputs and their code are defined once, in sharc.workflow.families; dvc.yaml is
generated from the same definition. What is current is decided by content: before the graph is
built, each current unit is given a stamp newer than all it reads, each other one loses its stamp.
"""

from sharc.workflow.door import open_door

door = open_door(config.get("suite"), main_process=workflow.is_main_process)


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
        params:
            family=family,
            suite=door.suite,
            unit=lambda wildcards: wildcards.unit.replace("--", "/"),
        shell:
            "python -m sharc.workflow.job {params.family} {params.unit} --suite {params.suite}"
            " --threads {threads} --log {log}"


onsuccess:
    door.record()


onerror:
    door.explain_failure()
