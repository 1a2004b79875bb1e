"""The two that answer a corrupted image: a Hopfield memory and an inpainter of its size."""

from collections.abc import Callable

import torch
from torch import Tensor

from sharc.figure1.corruptions import LEVELS, Query, corrupt
from sharc.figure1.inpainter import Inpainter
from sharc.memories.base import Shape
from sharc.memories.modern_hopfield import ModernHopfield
from sharc.randomness import derived_seed, generator

Answer = Callable[[Query], Tensor]
BATCH = 25


def hopfield(stored: Tensor) -> tuple[Answer, int]:
    """A modern Hopfield memory that holds the images [N, 3, H, W]; each entry has its own mask."""
    memory = ModernHopfield(Shape(1, stored[0].numel()), device=stored.device)
    memory.write(stored.flatten(1), torch.zeros(len(stored), dtype=torch.long))

    def answer(query: Query) -> Tensor:
        known = query.known.expand_as(query.image).flatten(1)
        labels = torch.zeros(len(known), dtype=torch.long, device=known.device)
        return memory.complete(query.image.flatten(1), known, labels).view_as(query.image)

    return answer, stored.numel()


def inpainter(stored: Tensor, epochs: int, seed: int) -> tuple[Answer, int]:
    """An autoencoder of as many weights, trained to undo every corruption of the same images."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "figure1", "weights"))
        net = Inpainter(stored.numel()).to(stored)
    random = generator(seed, "figure1", "training")
    adam = torch.optim.Adam(net.parameters(), lr=2e-3)
    rates = torch.optim.lr_scheduler.OneCycleLR(
        adam, max_lr=4e-3, total_steps=epochs * -(-len(stored) // BATCH)
    )
    with torch.enable_grad():
        for _ in range(epochs):
            for rows in torch.randperm(len(stored), generator=random).split(BATCH):
                images = stored[rows.to(stored.device)]
                query = _any_corruption(images, random)
                adam.zero_grad()
                loss = (net(query.image, query.known) - images).square().mean()
                loss.backward()
                adam.step()
                rates.step()
    net.eval()
    return lambda query: net(query.image, query.known).detach(), net.n_floats()


def _any_corruption(images: Tensor, random: torch.Generator) -> Query:
    """One of the corruptions the figure asks about, at one of its levels."""
    kinds = [(name, level) for name, levels in LEVELS.items() for level in levels]
    name, level = kinds[int(torch.randint(len(kinds), (), generator=random))]
    return corrupt(name, level, images, random)
