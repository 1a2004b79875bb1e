"""The paper's sentences as checks: what they rest on, and what our runs say about them."""
