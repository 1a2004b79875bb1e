"""Two sets of results side by side: where they are, which cells moved, and a figure of it."""
