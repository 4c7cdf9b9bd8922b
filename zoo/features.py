"""What classifiers that are not networks see of an image."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch

Floats: TypeAlias = npt.NDArray[np.float32]
Bytes: TypeAlias = npt.NDArray[np.uint8]

SIDE = 32
PATCH = 6


def pixels(images: Bytes) -> Floats:
    """All 3,072 values, about zero."""
    return images.reshape(len(images), -1).astype(np.float32) / 255 - np.float32(0.5)


def thumbnails(images: Bytes) -> Floats:
    """The mean colours of 8 x 8 squares."""
    means = images.reshape(-1, 8, 4, 8, 4, 3).mean(axis=(2, 4)) / 255
    return means.reshape(len(images), -1).astype(np.float32)


def colours(images: Bytes) -> Floats:
    """How often each of 64 colours occurs in the upper half and in the lower half."""
    bins = (images // 64).astype(np.int64) @ np.array([16, 4, 1])
    halves = bins.reshape(len(images) * 2, -1) + 64 * np.arange(len(images) * 2)[:, None]
    counts = np.bincount(halves.ravel(), minlength=128 * len(images)).reshape(len(images), 128)
    return np.sqrt(counts / halves.shape[1]).astype(np.float32)


def edges(images: Bytes, orientations: int = 9) -> Floats:
    """Histograms of oriented gradients: cells of 4 x 4 pixels, normalised in blocks of 2 x 2 cells."""
    return np.concatenate([_edges(part, orientations) for part in np.array_split(images, 20)])


def _edges(images: Bytes, orientations: int) -> Floats:
    grey = images.mean(axis=3) / 255
    down, right = np.gradient(grey, axis=(1, 2))
    strength = np.hypot(down, right)
    angle = (np.arctan2(down, right) % np.pi) / np.pi * orientations
    lower = np.floor(angle).astype(np.int64)
    share = angle - lower
    cells = np.zeros((len(images), 8, 8, orientations))
    for turn, part in ((lower, 1 - share), (lower + 1, share)):
        for orientation in range(orientations):
            here = np.where(turn % orientations == orientation, part * strength, 0)
            cells[..., orientation] += here.reshape(-1, 8, 4, 8, 4).sum(axis=(2, 4))
    blocks = np.concatenate([cells[:, i : i + 7, j : j + 7] for i in (0, 1) for j in (0, 1)], axis=3)
    blocks /= np.sqrt((blocks**2).sum(axis=3, keepdims=True) + 1e-3)
    return blocks.reshape(len(images), -1).astype(np.float32)


def components(train: Floats, test: Floats, count: int) -> tuple[Floats, Floats]:
    """The first principal components, learned from the training images."""
    mean = train.mean(axis=0)
    _, vectors = np.linalg.eigh(np.cov(train - mean, rowvar=False))
    top = vectors[:, ::-1][:, :count].astype(np.float32)
    return (train - mean) @ top, (test - mean) @ top


class Patches:
    """How near the patches in each quarter of an image come to typical ones (k-means, soft)."""

    def __init__(self, images: Bytes, count: int = 400, learned: bool = True, seed: int = 0) -> None:
        draw = torch.Generator().manual_seed(seed)
        which = torch.randperm(len(images), generator=draw)[:4000]
        found = _patches(images[which.numpy()]).reshape(-1, 3 * PATCH * PATCH)
        sample = found[torch.randperm(len(found), generator=draw)[:100_000]]
        self.mean = sample.mean(0)
        values, vectors = torch.linalg.eigh(torch.cov(sample.T))
        self.whiten = vectors @ torch.diag((values + 0.1).rsqrt()) @ vectors.T
        white = (sample - self.mean) @ self.whiten
        self.centres = white[:count].clone()
        for _ in range(20 if learned else 0):
            nearest = torch.cdist(white, self.centres).argmin(1)
            sums = torch.zeros_like(self.centres).index_add_(0, nearest, white)
            counts = torch.bincount(nearest, minlength=count)[:, None]
            self.centres = torch.where(counts > 0, sums / counts.clamp(min=1), self.centres)

    def __call__(self, images: Bytes) -> Floats:
        """Four quarters by as many features as there are typical patches."""
        return torch.cat([self._describe(images[i : i + 100]) for i in range(0, len(images), 100)]).numpy()

    def _describe(self, images: Bytes) -> torch.Tensor:
        white = (_patches(images) - self.mean) @ self.whiten
        distance = torch.cdist(white, self.centres)
        near = (distance.mean(2, keepdim=True) - distance).clamp(min=0)
        across = SIDE - PATCH + 1
        grid = near.reshape(len(images), across, across, -1)
        half = across // 2 + 1
        quarters = [grid[:, i : i + half, j : j + half].sum((1, 2)) for i in (0, half - 1) for j in (0, half - 1)]
        return torch.cat(quarters, 1)


def _patches(images: Bytes) -> torch.Tensor:
    """Every patch of every image, each of mean 0 and deviation about 1."""
    values = torch.from_numpy(images.astype(np.float32)).permute(0, 3, 1, 2)
    patches = torch.nn.functional.unfold(values, PATCH).transpose(1, 2)
    centred = patches - patches.mean(2, keepdim=True)
    return centred / (centred.var(2, keepdim=True) + 10).sqrt()
