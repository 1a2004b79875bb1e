"""Two sets of results side by side: where they lie, which cells moved, and a figure of it."""
