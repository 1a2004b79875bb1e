"""The entry points of the pipeline: what Snakemake, DVC and the shell call."""
