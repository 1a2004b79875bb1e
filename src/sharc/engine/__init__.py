"""The training engine: all runs of a cell at once, in closed form, on cached features."""
