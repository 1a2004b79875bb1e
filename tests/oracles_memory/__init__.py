"""Slow and obvious versions of what the memories do fast."""
