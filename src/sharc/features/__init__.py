"""Feature maps of a frozen backbone: computed once, cached in chunks, read lazily."""
