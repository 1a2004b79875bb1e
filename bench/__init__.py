"""How fast this is against what one would use instead, and against the machine's limit."""
