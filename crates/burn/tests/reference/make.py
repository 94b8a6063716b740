"""Writes bert.json, what `transformers` computes for four sentences: the numbers that tests/bert.rs compares with.

Usage: make.py FOLDER, the folder of the model. Needs torch and transformers. Everything is computed in 64 bits, so that what differs is ours.
"""

import json
import pathlib
import sys

import torch
from transformers import AutoTokenizer, BertModel

SENTENCES = [
    "The lighthouse keeper counted seven ships before breakfast.",
    "Bread!",
    "Nobody expected the old piano in the attic to be in tune, yet every key, even the cracked one, rang clear; "
    "so the children danced until the neighbours came upstairs to complain, and then stayed to dance as well.",
    "Is a café's naïve Zürich-style fondue worth 12.50 francs?",
]
LENGTH = 32  # the third sentence is longer
LABELS = [1, 0, 1, 0]
SHOWN = 8

folder = sys.argv[1]
tokenizer = AutoTokenizer.from_pretrained(folder)
model = BertModel.from_pretrained(folder, add_pooling_layer=False).double().eval()

tokens = tokenizer(SENTENCES, padding="max_length", truncation=True, max_length=LENGTH, return_tensors="pt")
states = model(input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]).last_hidden_state
mask = tokens["attention_mask"].unsqueeze(-1).double()
features = (states * mask).sum(1) / mask.sum(1)

# A head that can be written down again: see `head` in tests/bert.rs.
width = features.shape[1]
head = torch.tensor(
    [[((7 * i + 13 * c) % 11 - 5) / 50 for i in range(width)] for c in range(2)], dtype=torch.float64, requires_grad=True
)
bias = torch.tensor([0.0, 0.1], dtype=torch.float64, requires_grad=True)
losses = torch.nn.functional.cross_entropy(features @ head.T + bias, torch.tensor(LABELS), reduction="none")
losses.mean().backward()

gradients = {name: p.grad for name, p in model.named_parameters()}
words = gradients["embeddings.word_embeddings.weight"]
every = [*gradients.values(), head.grad, bias.grad]
reference = {
    "sentences": SENTENCES,
    "length": LENGTH,
    "labels": LABELS,
    "tokens": tokens["input_ids"].tolist(),
    "features": features[:, :SHOWN].tolist(),
    "feature_norms": features.norm(dim=1).tolist(),
    "state_of_token_3": states[0, 3, :SHOWN].tolist(),
    "losses": losses.tolist(),
    "gradient_norm": torch.cat([g.flatten() for g in every]).norm().item(),
    "gradient_norm_of_words": words.norm().item(),
    "gradient_norm_of_head": torch.cat([head.grad.flatten(), bias.grad]).norm().item(),
}
path = pathlib.Path(__file__).with_name("bert.json")
lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in reference.items()]
path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
