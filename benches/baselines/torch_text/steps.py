"""FAB's steps of fine-tuning a BERT with PyTorch: four agents on a ring, one thread an agent, as many at a time as there are cores.

Usage: steps.py FOLDER [STEPS]
FOLDER is that of the model. Prints the loss and the gradient norm of the first pass, to be compared with ours, and the seconds of a step: the median of STEPS, after one to warm up.

A step of an agent is three passes, forward and backward, of 4 rows of 128 tokens (validation at y, training at y, training at z), and the mixing of y, z and their trackers:

    v <- A v - step * t,    t <- B t + d(v) - d(v before),    v = (y, z),    d = (grad f(y) / penalty + grad g(y), grad g(z))
"""

import os
import statistics
import sys
import time

import torch
import torch.multiprocessing as mp
from transformers import BertModel

AGENTS, ROWS, LENGTH, CLASSES = 4, 4, 128, 2
PENALTY, STEP = 10.0, 1e-4


class Classifier(torch.nn.Module):
    """BERT, the mean over its tokens, and a linear layer that can be written down again."""

    def __init__(self, folder):
        super().__init__()
        self.bert = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
        width = self.bert.config.hidden_size
        self.head = torch.nn.Linear(width, CLASSES)
        with torch.no_grad():
            self.head.weight.copy_(
                torch.tensor([[((7 * i + 13 * c) % 11 - 5) / 50 for i in range(width)] for c in range(CLASSES)])
            )
            self.head.bias.copy_(torch.tensor([0.0, 0.1]))

    def losses(self, rows, labels):
        # No row has padding, so there is no mask.
        features = self.bert(input_ids=rows).last_hidden_state.mean(1)
        return torch.nn.functional.cross_entropy(self.head(features), labels, reduction="none")


def batch(agent, part):
    """Rows without padding, by a formula; `part` is 0 for validation and 1 for training."""
    number = (agent * 2 + part) * ROWS
    words = [[1000 + ((number + r) * 7919 + p * 131 + p * p * 17) % 20000 for p in range(LENGTH - 2)] for r in range(ROWS)]
    rows = torch.tensor([[101, *row, 102] for row in words])
    return rows, torch.tensor([r % CLASSES for r in range(ROWS)])


class Passes:
    """Losses and gradients at a flat point."""

    def __init__(self, folder):
        self.model = Classifier(folder)
        self.parameters = list(self.model.parameters())

    def start(self):
        return torch.cat([p.detach().flatten() for p in self.parameters])

    def __call__(self, y, agent, part, weight, to):
        """Adds the gradient of the weighted sum of losses; returns these."""
        place = 0
        with torch.no_grad():
            for p in self.parameters:
                p.copy_(y[place : place + p.numel()].view_as(p))
                place += p.numel()
                p.grad = None
        losses = self.model.losses(*batch(agent, part))
        (losses * weight).sum().backward()
        place = 0
        for p in self.parameters:
            to[place : place + p.numel()] += p.grad.flatten()
            place += p.numel()
        return losses.detach()


def direction(passes, v, agent, d):
    size = v.numel() // 2
    y, z = v[:size], v[size:]
    d.zero_()
    passes(y, agent, 0, 1 / (ROWS * PENALTY), d[:size])
    passes(y, agent, 1, 1 / ROWS, d[:size])
    passes(z, agent, 1, 1 / ROWS, d[size:])


def work(worker, workers, folder, steps, v, t, d, barrier, seconds):
    """The agents of one process. A and B are those of a ring with halves: an agent averages with the one before it."""
    torch.set_num_threads(1)
    passes = Passes(folder)
    mine = range(worker, AGENTS, workers)
    fresh = torch.empty_like(d[0])
    for agent in mine:
        direction(passes, v[0][agent], agent, d[agent])
        t[0][agent].copy_(d[agent])
    barrier.wait()
    for step in range(steps + 1):
        began = time.perf_counter()
        now, then = step % 2, (step + 1) % 2
        for agent in mine:
            torch.add(v[now][agent], v[now][agent - 1], out=v[then][agent])
            v[then][agent].mul_(0.5).add_(t[now][agent], alpha=-STEP)
            direction(passes, v[then][agent], agent, fresh)
            torch.add(t[now][agent], t[now][agent - 1], out=t[then][agent])
            t[then][agent].mul_(0.5).add_(fresh).sub_(d[agent])
            d[agent].copy_(fresh)
        barrier.wait()
        seconds[step] = time.perf_counter() - began


def main():
    folder, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    workers = min(AGENTS, os.cpu_count())
    torch.set_num_threads(1)
    passes = Passes(folder)
    start = passes.start()
    slope = torch.zeros_like(start)
    losses = passes(start, 0, 0, 1 / ROWS, slope)
    print(f"parameters              {start.numel()}")
    print(f"first loss              {losses.mean().item():.7f}")
    print(f"first gradient norm     {slope.double().norm().item():.6f}")
    began = time.perf_counter()
    for _ in range(3):
        passes(start, 0, 0, 1 / ROWS, slope)
    print(f"seconds of a pass       {(time.perf_counter() - began) / 3:.4f}  (one thread, nothing beside it)")

    point = torch.cat([start, start])
    shared = lambda: [point.clone().share_memory_() for _ in range(AGENTS)]
    v, t, d = [shared(), shared()], [shared(), shared()], shared()
    seconds = torch.zeros(steps + 1).share_memory_()
    mp.set_start_method("spawn")
    barrier = mp.Barrier(workers)
    processes = [
        mp.Process(target=work, args=(w, workers, folder, steps, v, t, d, barrier, seconds)) for w in range(workers)
    ]
    [process.start() for process in processes]
    [process.join() for process in processes]
    if any(process.exitcode for process in processes):
        sys.exit("a worker failed")
    print(f"seconds of a step       {statistics.median(seconds[1:].tolist()):.4f}  ({AGENTS} agents, {workers} at a time, {steps} steps)")


if __name__ == "__main__":
    main()
