"""Episodic memories: what is stored of past tasks and replayed."""
