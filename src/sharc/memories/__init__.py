"""Associative memories: given a part of a stored feature map, return the whole."""
