"""Continual-learning methods, one file each: the rule that turns logits into residual rows."""
