"""The training loop: all runs of a cell in lock-step through the tasks."""
