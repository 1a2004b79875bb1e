"""A linear classifier on frozen features, to ask whether they are any good."""

import torch
from torch.nn.functional import cross_entropy


def probe_accuracy(train, labels, test, answers, steps=40, decay=1e-3):
    """Test accuracy (0..1) of logistic regression on standardised features, fitted by L-BFGS."""
    mean, std = train.mean(0), train.std(0).clamp(min=1e-2)
    train, test = (train - mean) / std, (test - mean) / std
    weight = torch.zeros(train.shape[1], int(labels.max()) + 1, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight], max_iter=steps, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        loss = cross_entropy(train @ weight, labels) + decay * weight.square().sum()
        loss.backward()
        return loss

    optimiser.step(closure)
    with torch.no_grad():
        return float(((test @ weight).argmax(1) == answers).float().mean())
