"""The graph of jobs, which Snakemake builds and DVC versions."""
