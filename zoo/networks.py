"""Small networks for CIFAR-10, trained on two cores, and looked at while they learn: each look is a model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from zoo.images import Images

Codes: TypeAlias = npt.NDArray[np.int8]
Looks: TypeAlias = Iterator[tuple[str, str, Codes]]
"""For each look: the model's name, how it was made, and its predictions of the test images."""

MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
BATCH = 128


@dataclass(frozen=True)
class Training:
    """One network, how it is trained, and after which epochs it is looked at."""

    name: str
    what: str
    network: Callable[[], nn.Module]
    looks: tuple[int, ...]
    rate: float = 0.1
    seed: int = 0
    items: int = 50_000
    noise: float = 0.0
    augment: bool = True
    view: Callable[[Tensor], Tensor] = field(default=lambda images: images)

    def card(self, epoch: int) -> str:
        """How the model of one look was made, in a line."""
        parts = [f"{self.what}, epoch {epoch} of {self.looks[-1]}"]
        if self.items < 50_000:
            parts.append(f"trained on {self.items:,} images")
        if self.noise:
            parts.append(f"{self.noise:.0%} of the training labels drawn at random")
        if not self.augment:
            parts.append("images never flipped or shifted")
        if self.seed:
            parts.append(f"seed {self.seed}")
        return "; ".join(parts)


def train(training: Training, images: Images) -> Looks:
    """Train one network by SGD with a one-cycle rate, and give what it predicts after the epochs of interest."""
    torch.manual_seed(training.seed)
    draw = np.random.default_rng(training.seed)
    chosen = draw.permutation(len(images.train))[: training.items]
    labels = images.train_labels[chosen].copy()
    wrong = draw.random(len(labels)) < training.noise
    labels[wrong] = draw.integers(0, 10, int(wrong.sum()))
    inputs, targets = training.view(tensor(images.train[chosen])), torch.from_numpy(labels)
    test = training.view(tensor(images.test))
    network = training.network().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(
        network.parameters(), lr=training.rate, momentum=0.9, weight_decay=5e-4, nesterov=True
    )
    steps = -(-len(inputs) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, training.rate, epochs=training.looks[-1], steps_per_epoch=steps, pct_start=0.25
    )
    for epoch in range(1, training.looks[-1] + 1):
        network.train()
        for batch in torch.randperm(len(inputs)).split(BATCH):
            seen = augmented(inputs[batch]) if training.augment else inputs[batch]
            loss = functional.cross_entropy(network(seen), targets[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        if epoch in training.looks:
            yield f"{training.name}-epoch-{epoch}", training.card(epoch), predict(network, test)
    if training.augment:
        mirrored = "; the mean of what it says about an image and of its mirror image"
        name = f"{training.name}-epoch-{training.looks[-1]}-mirrored"
        yield name, training.card(training.looks[-1]) + mirrored, predict(network, test, mirrored=True)


def tensor(images: npt.NDArray[np.uint8]) -> Tensor:
    """Images as a network takes them: channels first, about zero."""
    scaled = (images.astype(np.float32) / 255 - np.float32(MEAN)) / np.float32(DEVIATION)
    return torch.from_numpy(scaled).permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)


def augmented(batch: Tensor) -> Tensor:
    """Each image flipped by a coin; the whole batch shifted by up to four pixels, again for each eighth of it."""
    flipped = torch.where(torch.rand(len(batch), 1, 1, 1) < 0.5, batch.flip(3), batch)
    border = batch.shape[-1] // 8
    padded = functional.pad(flipped, (border,) * 4, mode="reflect")
    side = batch.shape[-1]
    parts = []
    for part in padded.chunk(8):
        down, right = torch.randint(0, 2 * border + 1, (2,)).tolist()
        parts.append(part[:, :, down : down + side, right : right + side])
    return torch.cat(parts).contiguous(memory_format=torch.channels_last)


@torch.inference_mode()
def predict(network: nn.Module, test: Tensor, mirrored: bool = False) -> Codes:
    """The class that a network finds most likely for each test image."""
    network.eval()
    scores = [network(part) + (network(part.flip(3)) if mirrored else 0) for part in test.split(500)]
    return torch.cat(scores).argmax(1).numpy().astype(np.int8)


def convolution(channels: int, filters: int, stride: int = 1, groups: int = 1, size: int = 3) -> nn.Sequential:
    """Convolution, normalisation, ReLU."""
    return nn.Sequential(
        nn.Conv2d(channels, filters, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(filters),
        nn.ReLU(inplace=True),
    )


class Residual(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(convolution(channels, channels), convolution(channels, channels))

    def forward(self, x: Tensor) -> Tensor:
        """What came in, and what two convolutions make of it."""
        return x + self.inner(x)


class Mixing(nn.Module):
    """Patches look at each other, then each at itself: attention and a small perceptron, both with shortcuts."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.perceptron = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        """One layer of a transformer."""
        seen = self.before(x)
        x = x + self.attention(seen, seen, seen, need_weights=False)[0]
        return x + self.perceptron(self.after(x))


class Transformer(nn.Module):
    """A tiny vision transformer over 64 patches of 4 x 4 pixels."""

    def __init__(self, width: int = 64, depth: int = 3) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.place = nn.Parameter(0.02 * torch.randn(1, 64, width))
        self.layers = nn.Sequential(*(Mixing(width) for _ in range(depth)), nn.LayerNorm(width))
        self.head = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Scores of the ten classes."""
        seen = self.patches(x).flatten(2).transpose(1, 2) + self.place
        scores: Tensor = self.head(self.layers(seen).mean(1))
        return scores


def head(channels: int) -> nn.Sequential:
    """The largest answer of each filter, and a linear layer."""
    return nn.Sequential(nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


def lenet() -> nn.Module:
    """Two convolutions and three linear layers, as in 1998."""
    return nn.Sequential(
        *(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )


def perceptron(width: int = 256) -> nn.Module:
    """Pixels, two hidden layers, ten scores."""
    return nn.Sequential(
        *(nn.Flatten(), nn.Linear(3072, width), nn.BatchNorm1d(width), nn.ReLU()),
        *(nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 10)),
    )


def stack(width: int = 16, channels: int = 3) -> nn.Module:
    """Convolutions and poolings, one after the other."""
    return nn.Sequential(
        *(convolution(channels, width), nn.MaxPool2d(2), convolution(width, 2 * width), nn.MaxPool2d(2)),
        *(convolution(2 * width, 4 * width), convolution(4 * width, 4 * width), nn.MaxPool2d(2), head(4 * width)),
    )


def strided(width: int = 24) -> nn.Module:
    """Convolutions only: strides instead of poolings, an average at the end."""
    return nn.Sequential(
        *(convolution(3, width, 2), nn.Dropout2d(0.1), convolution(width, 2 * width, 2)),
        *(convolution(2 * width, 4 * width, 2), nn.Dropout2d(0.1), convolution(4 * width, 4 * width, 1, 1, 1)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, 10)),
    )


def separable(width: int = 32) -> nn.Module:
    """Depthwise convolutions, each followed by one across the channels, as on telephones."""
    layers: list[nn.Module] = [convolution(3, width, 2)]
    for channels, filters, stride in ((width, 2 * width, 1), (2 * width, 4 * width, 2), (4 * width, 4 * width, 1)):
        layers += [convolution(channels, channels, stride, channels), convolution(channels, filters, size=1)]
    return nn.Sequential(*layers, head(4 * width))


def residual(width: int) -> nn.Module:
    """A residual network of eight convolutions."""
    return nn.Sequential(
        *(convolution(3, width), convolution(width, 2 * width), nn.MaxPool2d(2), Residual(2 * width)),
        *(convolution(2 * width, 4 * width), nn.MaxPool2d(2)),
        *(convolution(4 * width, 8 * width), nn.MaxPool2d(2), Residual(8 * width), head(8 * width)),
    )


def grey(images: Tensor) -> Tensor:
    """The images without their colours."""
    return images.mean(1, keepdim=True)


def coarse(images: Tensor) -> Tensor:
    """The images at half their resolution."""
    return functional.avg_pool2d(images, 2)


STACK = "a stack of four convolutions"
TRAININGS = (
    Training(
        "residual-16", "a residual network, width 16", lambda: residual(16), (1, 2, 4, 6, 9, 12, 15, 18), 0.15
    ),
    Training("lenet", "LeNet-5", lenet, (1, 2, 4, 8, 12), 0.03),
    Training("stack", STACK, stack, (1, 2, 4, 6, 8), 0.15),
    Training("strided", "strided convolutions only", strided, (1, 2, 4, 6, 8), 0.15),
    Training("residual-8", "a residual network, width 8", lambda: residual(8), (1, 2, 4, 6, 8), 0.15),
    Training("perceptron", "a perceptron of two hidden layers", perceptron, (1, 3, 8), 0.05, augment=False),
    Training("stack-1000", STACK, stack, (10, 40), 0.1, items=1_000),
    Training("stack-5000", STACK, stack, (5, 20), 0.1, items=5_000),
    Training("stack-15000", STACK, stack, (3, 10), 0.1, items=15_000),
    Training("stack-noise-40", STACK, stack, (2, 6), 0.15, noise=0.4),
    Training("stack-noise-80", STACK, stack, (2, 6), 0.15, noise=0.8),
    Training("stack-grey", f"{STACK}, without colour", lambda: stack(16, 1), (2, 6), 0.15, view=grey),
    Training("stack-coarse", f"{STACK}, 16 x 16 pixels", lambda: stack(24), (3, 8), 0.15, view=coarse),
    Training("stack-plain", STACK, stack, (2, 6), 0.15, augment=False),
    Training("stack-again", STACK, stack, (2, 6), 0.15, seed=1),
    Training("transformer", "a tiny vision transformer", Transformer, (1, 3, 6), 0.05),
    Training("separable", "separable convolutions", separable, (1, 3, 6), 0.15),
)
