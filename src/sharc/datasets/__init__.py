"""Data sets: where their images come from and how they are proven to be the right ones."""
