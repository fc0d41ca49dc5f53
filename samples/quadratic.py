"""Walk down a parabola: the smallest program with a forward pass, a backward pass and an update.

y = (x - 3)² + 1 is smallest at x = 3, where it is 1.
"""

from glassllm import Tensor


def minimise(start: float = -2.0, rate: float = 0.1, steps: int = 40) -> tuple[float, float]:
    """x and y after so many steps of gradient descent from `start`."""
    x = Tensor([start], requires_grad=True)
    for _ in range(steps):
        loss(x).backward()
        assert x.grad is not None  # dy/dx = 2 (x - 3)
        x = Tensor(x.data - rate * x.grad, requires_grad=True)
    return float(x.data[0]), float(loss(x).data)


def loss(x: Tensor) -> Tensor:
    """y, a scalar."""
    return ((x - 3) ** 2 + 1).sum()


if __name__ == "__main__":
    x, y = minimise()
    print(f"x = {x:.4f}, y = {y:.4f}")
