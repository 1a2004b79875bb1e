"""Figures: each module draws one kind from collected results; none touches global state."""
