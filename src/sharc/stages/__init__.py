"""One module per stage of the graph: load, compute, save."""
