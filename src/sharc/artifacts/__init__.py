"""Files on disk: written whole or not at all, checked by content."""
