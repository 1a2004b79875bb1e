"""Episodic memories: what is kept of past tasks, and what is replayed of it."""
