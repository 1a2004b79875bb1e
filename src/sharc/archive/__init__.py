"""A finished suite as one folder that others can check and rebuild from."""
