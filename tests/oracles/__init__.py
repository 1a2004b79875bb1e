"""Independent, slow and plain implementations that the fast ones are tested against."""
