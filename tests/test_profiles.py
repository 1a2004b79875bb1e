"""What the profile for a cluster with GPUs asks Slurm for."""

import re
from pathlib import Path
from types import SimpleNamespace

import yaml
from snakemake_executor_plugin_slurm.utils import set_gres_string

ROOT = Path(__file__).parent.parent
PLAIN, GPU = (
    yaml.safe_load((ROOT / f"profiles/{name}/config.yaml").read_text())
    for name in ("slurm", "slurm-gpu")
)


class Asked(dict):
    """Resources as the plugin reads them: by key and by attribute."""

    __getattr__ = dict.__getitem__


def submitted(resources):
    """The part of sbatch's command that speaks of GPUs."""
    return set_gres_string(SimpleNamespace(resources=Asked(resources))).strip()


def test_each_job_that_computes_on_a_gpu_asks_for_one_and_no_other_does():
    rules = set(
        re.findall(r"^(?:use )?rule (?:\w+ as )?(\w+)", (ROOT / "Snakefile").read_text(), re.M)
    )
    asked = {rule: submitted(resources) for rule, resources in GPU["set-resources"].items()}
    assert asked == dict.fromkeys(
        ["features", "streamed", "train", "rungs", "specified"], "--gpus=1"
    )
    assert asked.keys() <= rules


def test_a_share_of_a_gpu_is_asked_for_as_the_profile_says():
    profile = (ROOT / "profiles/slurm-gpu/config.yaml").read_text()
    share = yaml.safe_load(re.search(r"`(gres: .+?)`", profile)[1])
    assert submitted(share) == "--gres=shard:1"


def test_both_profiles_submit_alike():
    assert {key: value for key, value in GPU.items() if key != "set-resources"} == PLAIN
