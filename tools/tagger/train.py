"""Fine-tune the tagger: python train.py OUT.npz [--without SET,SET]; these sets of notes are then left out and checked.

One model for two tasks: a note by itself (what does it state, does it tell of a change?), and an earlier note beside a
later one (does that end what the first says?). A note by itself stands in the second place, the first one empty.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from bundled_layers import bundled_state
from marked_notes import UNKNOWN, Marked, Spans, all_notes
from marked_pairs import Pair, all_pairs, notes_of_pairs
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from hopgate.bundled import BGE_SMALL, bundled_file

LAYERS, EPOCHS, RATE, BATCH, TOKENS = 6, 7, 2e-4, 64, 256
LABELS = {"T": 1, "N": 2, "O": 3}
IGNORED = -100
TOKENIZER = Tokenizer.from_buffer(bundled_file(BGE_SMALL.folder, "tokenizer.json", BGE_SMALL.tokenizer_sha256))
TOKENIZER.no_padding()
TOKENIZER.enable_truncation(TOKENS)
Values = Mapping[str | None, Sequence[str]]


class Encoded(NamedTuple):
    """Two texts as numbers; whether the first tells a change, and the second an end, is unknown where it is none."""

    ids: list[int]
    types: list[int]
    labels: list[int]
    answers: tuple[float, float]


class Tagger(nn.Module):
    """The bundled embedder's first layers; four labels for each token, and of the first one change and end."""

    def __init__(self) -> None:
        super().__init__()
        shape = {"hidden_size": 384, "num_attention_heads": 12, "intermediate_size": 1536}
        self.b = BertModel(BertConfig(vocab_size=30522, num_hidden_layers=LAYERS, **shape), add_pooling_layer=False)
        self.b.load_state_dict({name: torch.tensor(array) for name, array in bundled_state().items()}, strict=False)
        self.b.embeddings.word_embeddings.requires_grad_(False)
        self.t, self.c, self.drop = nn.Linear(384, 4), nn.Linear(384, 2), nn.Dropout(0.1)

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
        """Give the labels of tokens, and change and end of texts, as logits."""
        hidden = self.drop(self.b(ids, attention_mask=mask, token_type_ids=types).last_hidden_state)
        return self.t(hidden), self.c(hidden[:, 0])


def encoded(texts: tuple[str, str], spans: tuple[Spans, Spans] | None, answers: tuple[float, float]) -> Encoded:
    """Cut texts into tokens with their labels; without marks no token has any."""
    encoding = TOKENIZER.encode(*texts)
    labels = [0 if end > begin and spans is not None else IGNORED for begin, end in encoding.offsets]
    for place, marks in enumerate(spans or ()):
        for begin, end, mark in marks:
            for at, (left, right) in enumerate(encoding.offsets):
                if encoding.sequence_ids[at] == place and begin <= left < right <= end:
                    labels[at] = IGNORED if mark == UNKNOWN else LABELS[mark]
    return Encoded(encoding.ids, encoding.type_ids, labels, answers)


def of_note(note: Marked) -> Encoded:
    """A note by itself."""
    return encoded(("", note.text), ([], note.spans), (float(note.kind == "change"), -1))


def of_pair(pair: Pair) -> Encoded:
    """Two notes; where nothing ends nobody said which words are what."""
    spans = (pair.of_earlier, pair.of_later) if pair.is_end else None
    return encoded((pair.earlier, pair.later), spans, (-1, float(pair.is_end)))


def apart(pairs: Sequence[Pair], rng: random.Random) -> Iterator[Encoded]:
    """Notes that have nothing to do with each other: an end beside what somebody else noted, mostly of its sort."""
    alike: dict[object, list[Pair]] = defaultdict(list)
    for pair in pairs:
        alike[pair.source].append(pair)
        alike[pair.source, pair.relation].append(pair)
    for pair in pairs:
        if not pair.is_end:
            continue
        near = alike[pair.source, pair.relation]
        other = rng.choice(near if len(near) > 3 and rng.random() < 0.6 else alike[pair.source])
        beside = [(other.earlier, pair.later)] if other.earlier != pair.earlier else []
        if rng.random() < 0.25 and not pair.is_plain:
            beside.append((pair.later, pair.earlier))  # the other way round
        if pair.beside and rng.random() < 0.3:
            beside += [(pair.beside[0], pair.later), (pair.earlier, pair.beside[0])]
        for texts in beside:
            yield encoded(texts, None, (-1, 0))


def of_others(pairs: Sequence[Pair], rng: random.Random) -> Iterator[Encoded]:
    """An end beside what is noted of something else with the same people and things in it, as one's own notes are.

    What "Gitea" was said to be elsewhere is not over because another thing left "birch"; nor is all that is said of
    Gitea over because it did.
    """
    for pair in pairs:
        ended = {mark: pair.earlier[begin:end] for begin, end, mark in reversed(pair.of_earlier)}
        if not pair.is_end or not {"T", "O"} <= ended.keys() or rng.random() < 0.65:
            continue
        other = rng.choice(pairs)
        said = {mark for _, _, mark in pair.of_later}
        # Of its thing another aspect, or of what was another thing: each only where the later note names both.
        kept = "T" if "O" in said and rng.random() < 0.6 else "O"
        if other.source == pair.source or kept not in {mark for _, _, mark in other.of_earlier}:
            continue
        if (kept == "O" and "T" not in said) or (kept == "T" and "O" not in said):
            continue
        if other.relation is not None and other.relation == pair.relation:
            continue
        begin, end, _ = next(span for span in other.of_earlier if span[2] == kept)
        yield encoded((other.earlier[:begin] + ended[kept] + other.earlier[end:], pair.later), None, (-1, 0))


def renamed(texts: Sequence[tuple[str, Spans]], others: Sequence[str], rng: random.Random) -> list[tuple[str, Spans]]:
    """Put other values in, the same wherever they stand, so that names are not learnt by heart."""
    chosen: dict[tuple[str, str], str] = {}
    made = []
    for given, spans in texts:
        text, marks, last = "", [], 0
        for begin, end, mark in sorted(spans):
            if begin < last:
                return list(texts)
            word = given[begin:end]
            if mark in "NO":
                word = chosen.setdefault((mark, word.casefold()), rng.choice(others))
            text += given[last:begin]
            marks.append((len(text), len(text) + len(word), mark))
            text, last = text + word, end
        made.append((text + given[last:], marks))
    return made


def varied(notes: Sequence[Marked], pairs: Sequence[Pair], values: Values, rng: random.Random) -> Iterator[Encoded]:
    """All texts of an epoch, every second one that has a relation with other values of it."""
    for note in notes:
        texts = [(note.text, note.spans)]
        if values.get(note.relation) and rng.random() < 0.5:
            texts = renamed(texts, values[note.relation], rng)
        yield of_note(note._replace(text=texts[0][0], spans=texts[0][1]))
    for pair in pairs:
        texts = [(pair.earlier, pair.of_earlier), (pair.later, pair.of_later)]
        if values.get(pair.relation) and rng.random() < 0.5:
            texts = renamed(texts, values[pair.relation], rng)
        (earlier, first), (later, second) = texts
        yield of_pair(pair._replace(earlier=earlier, later=later, of_earlier=first, of_later=second))
    yield from apart(pairs, rng)
    yield from of_others(pairs, rng)


def values_of(notes: Sequence[Marked]) -> Values:
    """The values that notes name, by relation."""
    values: dict[str | None, list[str]] = defaultdict(list)
    for note in notes:
        if note.relation:
            values[note.relation] += [note.text[begin:end] for begin, end, mark in note.spans if mark in "NO"]
    return values


def batches(texts: Sequence[Encoded]) -> Iterator[tuple[Tensor, ...]]:
    """Ids, mask, types, labels and answers of some texts at a time."""
    for start in range(0, len(texts), BATCH):
        part = texts[start : start + BATCH]
        size = (len(part), max(len(one.ids) for one in part))
        ids, types, mask = (torch.zeros(size, dtype=kind) for kind in (torch.long, torch.long, torch.float))
        labels = torch.full(size, IGNORED)
        for at, one in enumerate(part):
            long = len(one.ids)
            ids[at, :long], types[at, :long], mask[at, :long] = torch.tensor(one.ids), torch.tensor(one.types), 1
            labels[at, :long] = torch.tensor(one.labels)
        answers = torch.tensor([one.answers for one in part], dtype=torch.float)
        yield ids.cuda(), mask.cuda(), types.cuda(), labels.cuda(), answers.cuda()


def trained(notes: Sequence[Marked], pairs: Sequence[Pair], seed: int = 0) -> Tagger:
    """Fine-tune; the rate rises for a tenth of the steps and falls to nothing."""
    torch.manual_seed(seed)
    rng, values = random.Random(seed), values_of(notes)
    model = Tagger().cuda().train()
    learnt = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(learnt, lr=RATE, weight_decay=0.01)
    steps = EPOCHS * (len(list(varied(notes, pairs, values, random.Random(seed)))) // BATCH + 1) + EPOCHS
    rates = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: max(0, min(1, step / (0.1 * steps)) * (steps - step) / steps * 1.1)
    )
    for _ in range(EPOCHS):
        read = list(varied(notes, pairs, values, rng))
        rng.shuffle(read)
        for ids, mask, types, labels, answers in batches(read):
            with torch.autocast("cuda", dtype=torch.bfloat16):
                tags, told = model(ids, mask, types)
            loss = nn.functional.cross_entropy(tags.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
            for place in (0, 1):
                known = answers[:, place] >= 0
                if known.any():
                    loss = loss + 0.7 * nn.functional.binary_cross_entropy_with_logits(
                        told[known, place].float(), answers[known, place]
                    )
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learnt, 1.0)
            optimiser.step()
            rates.step()
    return model.eval()


@torch.no_grad()
def answers_of(model: Tagger, texts: Sequence[Encoded]) -> Iterator[tuple[float, float]]:
    """How likely each tells a change, and an end."""
    for ids, mask, types, _, _ in batches(texts):
        yield from model(ids, mask, types)[1].sigmoid().tolist()


def check(model: Tagger, notes: Sequence[Marked], pairs: Sequence[Pair]) -> None:
    """Print of how many notes and pairs that the model was not trained on a change or an end is seen."""
    seen: dict[str, list[float]] = defaultdict(list)
    for note, (change, _) in zip(notes, answers_of(model, list(map(of_note, notes))), strict=True):
        seen[note.kind].append(change)
    for pair, (_, end) in zip(pairs, answers_of(model, list(map(of_pair, pairs))), strict=True):
        seen["end" if pair.is_end else "no end"].append(end)
    for least in (0.1, 0.5, 0.9, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995):
        shares = {kind: round(float(np.mean(np.array(found) >= least)), 3) for kind, found in seen.items()}
        print(least, shares)  # noqa: T201


def main() -> None:
    """Train, check and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out")
    parser.add_argument("--without", default="")
    options = parser.parse_args()
    without = set(filter(None, options.without.split(",")))
    notes, pairs = [*all_notes(), *notes_of_pairs()], all_pairs()
    model = trained(
        [note for note in notes if note.source not in without], [pair for pair in pairs if pair.source not in without]
    )
    if without:
        check(
            model,
            [note for note in notes if note.source in without],
            [pair for pair in pairs if pair.source in without],
        )
    weights = model.state_dict()
    halves = {name: array.half().cpu().numpy() for name, array in weights.items() if "word_embeddings" not in name}
    np.savez(options.out, **halves)


if __name__ == "__main__":
    main()
