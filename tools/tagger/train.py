"""Fine-tune the tagger: python train.py OUT.npz; python train.py --check trains without some sets of notes in turn."""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from bundled_layers import bundled_state
from marked_notes import UNKNOWN, Marked, notes_of_sets, written_lines
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from hopgate.bundled import BGE_SMALL, bundled_file

LAYERS, EPOCHS, RATE, BATCH, TOKENS, FOLDS = 6, 10, 2e-4, 64, 192, 5
LABELS = {"T": 1, "N": 2, "O": 3}
IGNORED = -100
TOKENIZER = Tokenizer.from_buffer(bundled_file(BGE_SMALL.folder, "tokenizer.json", BGE_SMALL.tokenizer_sha256))
TOKENIZER.no_padding()
TOKENIZER.enable_truncation(TOKENS)


class Encoded(NamedTuple):
    """A note as numbers."""

    ids: list[int]
    labels: list[int]
    is_change: bool


class Tagger(nn.Module):
    """The bundled embedder's first layers; four labels for each token, and of the first one whether it is a change."""

    def __init__(self) -> None:
        super().__init__()
        shape = {"hidden_size": 384, "num_attention_heads": 12, "intermediate_size": 1536}
        self.b = BertModel(BertConfig(vocab_size=30522, num_hidden_layers=LAYERS, **shape), add_pooling_layer=False)
        self.b.load_state_dict({name: torch.tensor(array) for name, array in bundled_state().items()}, strict=False)
        self.b.embeddings.requires_grad_(False)
        self.t, self.c, self.drop = nn.Linear(384, 4), nn.Linear(384, 1), nn.Dropout(0.1)

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Give the labels of tokens, and the change of texts, as logits."""
        hidden = self.drop(self.b(ids, attention_mask=mask).last_hidden_state)
        return self.t(hidden), self.c(hidden[:, 0])[:, 0]


def encoded(note: Marked) -> Encoded:
    """Cut a note into tokens with their labels."""
    encoding = TOKENIZER.encode(note.text)
    labels = [0 if end > begin else IGNORED for begin, end in encoding.offsets]
    for begin, end, mark in note.spans:
        for at, (left, right) in enumerate(encoding.offsets):
            if begin <= left < right <= end:
                labels[at] = IGNORED if mark == UNKNOWN else LABELS[mark]
    return Encoded(encoding.ids, labels, note.kind == "change")


def renamed(note: Marked, values: dict[str | None, list[str]], rng: random.Random) -> Marked:
    """Put other values of the same relation in every second note, so that names are not learnt by heart."""
    if rng.random() > 0.5 or not values.get(note.relation):
        return note
    chosen: dict[tuple[str, str], str] = {}
    text, spans, last = "", [], 0
    for begin, end, mark in sorted(note.spans):
        if begin < last:
            return note
        word = note.text[begin:end]
        if mark in "NO":
            word = chosen.setdefault((mark, word.casefold()), rng.choice(values[note.relation]))
        text += note.text[last:begin]
        spans.append((len(text), len(text) + len(word), mark))
        text, last = text + word, end
    return note._replace(text=text + note.text[last:], spans=spans)


def batches(notes: Sequence[Encoded]) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Ids, mask, labels and changes of some notes at a time."""
    for start in range(0, len(notes), BATCH):
        part = notes[start : start + BATCH]
        size = (len(part), max(len(note.ids) for note in part))
        ids, mask, labels = torch.zeros(size, dtype=torch.long), torch.zeros(size), torch.full(size, IGNORED)
        for at, note in enumerate(part):
            ids[at, : len(note.ids)] = torch.tensor(note.ids)
            mask[at, : len(note.ids)] = 1
            labels[at, : len(note.ids)] = torch.tensor(note.labels)
        yield ids.cuda(), mask.cuda(), labels.cuda(), torch.tensor([float(note.is_change) for note in part]).cuda()


def trained(notes: Sequence[Marked], seed: int = 0) -> Tagger:
    """Fine-tune on some notes; the rate rises for a tenth of the steps and falls to nothing."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    values: dict[str | None, list[str]] = defaultdict(list)
    for note in notes:
        if note.relation:
            values[note.relation] += [note.text[begin:end] for begin, end, mark in note.spans if mark in "NO"]
    model = Tagger().cuda().train()
    learnt = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(learnt, lr=RATE, weight_decay=0.01)
    steps = EPOCHS * -(-len(notes) // BATCH)
    rates = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, step / (0.1 * steps)) * (steps - step) / steps * 1.1
    )
    for _ in range(EPOCHS):
        read = [encoded(renamed(note, values, rng)) for note in notes]
        rng.shuffle(read)
        for ids, mask, labels, changes in batches(read):
            with torch.autocast("cuda", dtype=torch.bfloat16):
                tags, change = model(ids, mask)
            loss = nn.functional.cross_entropy(tags.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
            loss = loss + 0.5 * nn.functional.binary_cross_entropy_with_logits(change.float(), changes)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learnt, 1.0)
            optimiser.step()
            rates.step()
    return model.eval()


@torch.no_grad()
def changes_seen(model: Tagger, notes: Sequence[Marked]) -> list[float]:
    """How likely each note tells of a change."""
    found: list[float] = []
    for ids, mask, _, _ in batches([encoded(note) for note in notes]):
        found += model(ids, mask)[1].sigmoid().tolist()
    return found


def check() -> None:
    """Train without a fifth of the sets at a time, and print of how many of its notes a change is seen."""
    sets, lines = list(notes_of_sets()), list(written_lines())
    names = sorted({note.source for note in sets})
    seen: dict[str, list[float]] = defaultdict(list)
    for fold in range(FOLDS):
        left_out = [note for note in sets if note.source in names[fold::FOLDS]]
        model = trained([note for note in sets if note.source not in names[fold::FOLDS]] + lines)
        for note, change in zip(left_out, changes_seen(model, left_out), strict=True):
            seen[note.kind].append(change)
    for least in (0.5, 0.98, 0.999, 0.9995):
        shares = {kind: round(float(np.mean(np.array(found) >= least)), 3) for kind, found in seen.items()}
        print(least, shares)  # noqa: T201


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        weights = trained([*notes_of_sets(), *written_lines()]).state_dict()
        halves = {name: array.half().cpu().numpy() for name, array in weights.items() if "word_embeddings" not in name}
        np.savez(sys.argv[1], **halves)
