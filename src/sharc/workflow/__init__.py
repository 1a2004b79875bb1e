"""One graph behind two doors: Snakemake builds it, DVC versions it."""
