"""Tell upright bars from flat ones: one convolution, written by indexing, then a linear layer, trained by AdamW.

A convolution is a matrix product once every window of the image lies in a row of its own; indexing puts it there.
"""

import numpy as np

from glassllm import Tensor
from glassllm.autograd import cross_entropy, relu
from glassllm.debug import scope
from glassllm.optim import AdamW

SIZE, WINDOW, CHANNELS = 8, 3, 4
PLACES = SIZE - WINDOW + 1  # of a window along one side


def windows() -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the pixels of every window, each (PLACES², WINDOW²)."""
    corner = np.stack(np.mgrid[:PLACES, :PLACES]).reshape(2, -1, 1)
    pixel = np.stack(np.mgrid[:WINDOW, :WINDOW]).reshape(2, 1, -1)
    rows, columns = corner + pixel
    return rows, columns


def bars(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Noisy images (count, SIZE, SIZE), and 1 where the bar is upright, else 0."""
    images = rng.normal(0, 0.3, (count, SIZE, SIZE))
    is_upright = rng.integers(0, 2, count)
    for image, upright, at in zip(images, is_upright, rng.integers(0, SIZE, count), strict=True):
        image[(slice(None), at) if upright else at] += 1
    return images, is_upright


class Net:
    """Convolution, relu, the largest answer of each channel, a linear layer."""

    def __init__(self, rng: np.random.Generator):
        self.filters = Tensor(rng.normal(0, 0.3, (WINDOW**2, CHANNELS)), requires_grad=True)
        self.weight = Tensor(rng.normal(0, 0.5, (CHANNELS, 2)), requires_grad=True)
        self.bias = Tensor(np.zeros(2), requires_grad=True)
        self.rows, self.columns = windows()

    def logits(self, images: Tensor) -> Tensor:
        """(n, 2) for images (n, SIZE, SIZE)."""
        with scope("convolution"):
            patches = images[:, self.rows, self.columns]  # (n, PLACES², WINDOW²)
            answers = relu(patches @ self.filters)  # (n, PLACES², CHANNELS)
        with scope("pool"):
            pooled = answers.max(axis=1)  # (n, CHANNELS)
        with scope("classify"):
            return pooled @ self.weight + self.bias


def train(net: Net, steps: int, rng: np.random.Generator) -> list[float]:
    """The loss at every step."""
    optimizer = AdamW([net.filters, net.weight, net.bias], lr=0.05, weight_decay=0.0)
    losses = []
    for _ in range(steps):
        images, labels = bars(16, rng)
        loss = cross_entropy(net.logits(Tensor(images)), labels)
        losses.append(float(loss.data))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    net = Net(rng)
    losses = train(net, 60, rng)
    images, labels = bars(200, rng)
    right = net.logits(Tensor(images)).data.argmax(axis=1) == labels
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} at last; {right.mean():.0%} of 200 new images right")
