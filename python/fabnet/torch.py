"""Problems whose model and losses are written in PyTorch.

>>> import torch
>>> import fabnet.torch
>>> rng = np.random.default_rng(0)
>>> def share(samples):                              # the data of one agent
...     inputs = rng.normal(size=(samples, 2))
...     return {"inputs": inputs, "targets": inputs @ np.array([[1.0], [-2.0]])}
>>> def error(model, batch):
...     return ((model(batch["inputs"]) - batch["targets"]) ** 2).mean()
>>> module = torch.nn.Linear(2, 1, bias=False)
>>> problem = fabnet.torch.Problem(
...     module,
...     upper=lambda x, model, batch: error(model, batch),
...     # The ridge is learned.
...     lower=lambda x, model, batch: error(model, batch) + x.exp() * (model.weight**2).sum(),
...     x=torch.tensor(0.0),
...     train=[share(20) for _ in range(4)], valid=[share(10) for _ in range(4)])
>>> solution = fabnet.solve(problem, topology="complete", rounds=1000)
>>> x, _ = problem.unpack(solution.x[0], solution.y[0])     # the module gets the parameters
>>> bool(x < -4), bool((module.weight - torch.tensor([[1.0, -2.0]])).abs().max() < 0.05)
(True, True)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ._samples import Learning, Samples, by_agent


class Problem(Learning):
    """A problem for :func:`fabnet.solve`, given by two losses and a module, whose parameters are y.

    ``upper(x, model, batch)`` and ``lower(x, model, batch)`` return a number; ``model`` is the
    module with the parameters of one agent.

    ``x`` is a tensor or a dict of tensors with the starting point of all agents; it may be None.
    ``train`` and ``valid`` hold the samples of each agent for the lower and the upper level (the
    same samples, if ``valid`` is None): for each agent an array or a tensor, or a dict or a tuple
    of them, with samples along the first axis. On a :class:`fabnet.Node`, they are dicts by agent
    that hold the node's own agents only. Each round shows ``batch`` samples, or all if it is None.

    With ``weights``, a number, every training sample has a weight of its own. It starts at that
    number, is learned with the outer variable, and never leaves its agent. ``lower(x, model, batch,
    weights)`` gets the weights of the samples in the batch.

    Everything is computed on ``device`` (that of the module, if not given), in the precision of the
    module. Every agent has buffers of its own, such as the running means of batch normalisation;
    they are not exchanged.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        upper: Callable[..., torch.Tensor],
        lower: Callable[..., torch.Tensor],
        *,
        train: Sequence[Any] | Mapping[int, Any],
        valid: Sequence[Any] | Mapping[int, Any] | None = None,
        x: torch.Tensor | Mapping[str, torch.Tensor] | None = None,
        batch: int | None = None,
        weights: float | None = None,
        seed: int = 0,
        device: torch.device | str | None = None,
    ):
        self._module = module if device is None else module.to(device)
        self._parameters = {
            name: parameter
            for name, parameter in module.named_parameters()
            if parameter.requires_grad
        }
        if not self._parameters:
            raise ValueError(
                "the module has no parameter that requires a gradient: there is nothing to learn"
            )
        first = next(iter(self._parameters.values()))
        self._like = {"dtype": first.dtype, "device": first.device}
        self._losses = {"upper": upper, "lower": lower}
        self._x = _map(lambda tensor: torch.as_tensor(tensor, **self._like), x)
        train = self._to_samples(train, batch, seed)
        valid = train if valid is None else self._to_samples(valid, batch, seed)
        super().__init__(
            train, valid, weights, _flat(_leaves(self._x)), _flat(self._parameters.values())
        )
        self._buffers = {
            agent: [buffer.clone() for buffer in module.buffers()] for agent in train.sizes
        }
        self._turn = threading.Lock()

    def unpack(self, x: np.ndarray, y: np.ndarray) -> tuple[Any, torch.nn.Module]:
        """Return an agent's x of a solution in its original form, and the module with its y."""
        self._set_parameters(y)
        return self._shaped(torch.as_tensor(x, **self._like)), self._module

    def _to_samples(
        self, shares: Sequence[Any] | Mapping[int, Any], batch: int | None, seed: int
    ) -> Samples:
        tensors = {agent: _map(self._sample, share) for agent, share in by_agent(shares).items()}
        return Samples(
            tensors,
            {agent: [len(leaf) for leaf in _leaves(share)] for agent, share in tensors.items()},
            batch,
            seed,
        )

    def _sample(self, array: Any) -> torch.Tensor:
        """Move to the device; real numbers get the precision of the module, integers stay."""
        tensor = torch.as_tensor(array, device=self._like["device"])
        return tensor.to(self._like["dtype"]) if tensor.is_floating_point() else tensor

    def _shaped(self, x: torch.Tensor) -> Any:
        parts = iter(x.split([tensor.numel() for tensor in _leaves(self._x)]))
        return _map(lambda tensor: next(parts).view_as(tensor), self._x)

    def _set_parameters(self, y: np.ndarray) -> None:
        # A copy, so that later changes of the module do not change a solution.
        torch.nn.utils.vector_to_parameters(
            torch.tensor(y, **self._like), self._parameters.values()
        )

    def _exchange_buffers(self, agent: int) -> None:
        """Swap the buffers of the module with those of an agent; a second call swaps back."""
        for buffer, own in zip(self._module.buffers(), self._buffers[agent]):
            buffer.data, own.data = own.data, buffer.data

    def _evaluate(self, level, agent, shown, x, y, weights):
        batch = _map(lambda leaf: leaf[shown], self._samples[level].shares[agent])
        variables = [
            torch.as_tensor(part, **self._like).requires_grad_()
            for part in (x, weights)
            if part is not None
        ]
        with self._turn, torch.enable_grad():  # one module serves all agents
            self._set_parameters(y)
            self._exchange_buffers(agent)
            try:
                loss = self._losses[level](
                    self._shaped(variables[0]), self._module, batch, *variables[1:]
                )
                slopes = torch.autograd.grad(
                    loss, [*variables, *self._parameters.values()], allow_unused=True
                )
            finally:
                self._exchange_buffers(agent)
        unused = [
            name for name, slope in zip(self._parameters, slopes[len(variables) :]) if slope is None
        ]
        if unused and level == "lower":
            raise ValueError(
                f"`{unused[0]}` has no part in the loss of the lower level: "
                "use it there, or tell it requires_grad_(False)"
            )
        likes = [*variables, *self._parameters.values()]
        numbers = [
            _flat([torch.zeros_like(like) if slope is None else slope])
            for slope, like in zip(slopes, likes)
        ]
        by_y = np.concatenate(numbers[len(variables) :])
        return loss.item(), numbers[0], by_y, numbers[1] if weights is not None else None


def _map(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to the leaves of a tree of dicts and tuples."""
    if tree is None:
        return None
    if isinstance(tree, Mapping):
        return {name: _map(function, branch) for name, branch in tree.items()}
    if isinstance(tree, (tuple, list)):
        return tuple(_map(function, branch) for branch in tree)
    return function(tree)


def _leaves(tree: Any) -> list[Any]:
    leaves: list[Any] = []
    _map(leaves.append, tree)
    return leaves


def _flat(tensors: Iterable[torch.Tensor]) -> np.ndarray:
    parts = [tensor.detach().reshape(-1).to("cpu", torch.float64) for tensor in tensors]
    return torch.cat(parts).numpy() if parts else np.zeros(0)
