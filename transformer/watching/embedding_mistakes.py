"""Mistakes in the input of the network: scale of the embedding, positions, ids."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from transformer.network.embedding import sinusoid
from transformer.network.tap import Scope
from transformer.watching.alterations import Alteration, Candidate, Change
from transformer.watching.places import Setting

# Bases of the angles of positions that are tried instead of 10,000.
BASES = (100, 1_000, 100_000, 1_000_000)
# Scales of the embedding that are also tried together with other positions.
PAIRED = ("", "embedding scaled", "embedding not scaled", "positions scaled too")


def embeddings(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in the embeddings: another scale of the token embedding, other positions, or
    both."""
    root = math.sqrt(setting.config.d_model)
    usual = root if setting.config.scale_embedding else 1.0
    scales: dict[str, tuple[str, float, float]] = {"": ("", usual, 1.0)}
    if usual == 1.0:
        scales["embedding scaled"] = ("token embeddings are multiplied by √d_model, ours are not", root, 1.0)
    else:
        scales["embedding not scaled"] = ("token embeddings are not multiplied by √d_model", 1.0, 1.0)
    scales["positions scaled too"] = ("the sum of token and position is multiplied by √d_model", root, root)
    scales["embedding divided"] = ("token embeddings are divided by √d_model", 1 / root, 1.0)
    scales["embedding times d_model"] = ("token embeddings are multiplied by d_model instead of √d_model", root**2, 1.0)
    scales["token added twice"] = ("the token embedding is added twice", 2 * usual, 1.0)
    scales["positions scaled"] = ("positions are multiplied by √d_model, and tokens are not", 1.0, root)
    for sides, where in ((("source", "target"), "both embeddings"), (("source",), "the source"), (("target",), "the target")):
        for scale, (scale_words, token, position) in scales.items():
            for name, words, make in (("", "", None), *_positions(setting)):
                if (scale or name) and (not name or scale in PAIRED):
                    edits = tuple(_summed(setting, side, token, position, make) for side in sides)
                    names, listed = (tuple(each for each in pair if each) for pair in ((scale, name), (scale_words, words)))
                    parts = tuple(f"{side}_embedding" for side in sides)
                    yield Candidate(names, listed, where, parts, partial(Alteration, edits))
        words = "positions are multiplied with the tokens instead of added"
        edits = tuple(_multiplied(side, usual) for side in sides)
        parts = tuple(f"{side}_embedding" for side in sides)
        yield Candidate(("positions multiplied",), (words,), where, parts, partial(Alteration, edits))


def _multiplied(side: str, scale: float) -> Change:
    """A change that multiplies the token embedding, times `scale`, by the position vector instead of adding the two."""

    def function(_: Tensor, scope: Scope) -> Tensor:
        return scope.values[f"{side}_embedding.token"] * scale * scope.values[f"{side}_embedding.position"]

    return Change(f"{side}_embedding.sum", function)


def _positions(setting: Setting) -> Iterator[tuple[str, str, Callable[[str, Tensor, Tensor], Tensor]]]:
    """Yields mistakes in positions. For each: its name, the mistake in words, and a function of side, positions and ids that
    returns the wrong positions."""
    yield "positions not added", "positions are not added", lambda _side, positions, _ids: positions * 0
    yield "positions added twice", "positions are added twice", lambda _side, positions, _ids: positions * 2
    config = setting.config
    width = config.d_model
    if config.position == "learned":
        words = "positions are counted from 1 instead of 0"

        def shifted(side: str, positions: Tensor, _ids: Tensor) -> Tensor:
            table = setting.module(f"{side}_embedding.positions.table").get_parameter("weight")
            return table[1 : len(positions) + 1] if len(table) > len(positions) else positions

        yield "positions off by one", words, shifted
        return
    order = config.sinusoid_order
    other = "halves" if order == "alternating" else "alternating"
    tables: dict[str, tuple[str, Callable[[int], Tensor]]] = {
        "positions in another order": (
            f"sines and cosines are {'in halves (all sines first, then all cosines)' if other == 'halves' else 'alternating'}",
            lambda length: sinusoid(length, width, other),
        ),
        "positions off by one": (
            "positions are counted from 1 instead of 0",
            lambda length: sinusoid(length + 1, width, order)[1:],
        ),
        "positions backwards": ("positions are counted backwards", lambda length: sinusoid(length, width, order).flip(0)),
        "sine and cosine exchanged": (
            "sine and cosine are exchanged in the positions",
            lambda length: _angles(length, width, order, 0, True),
        ),
        "every column its own frequency": (
            "the exponent of a position counts columns instead of pairs, so sine and cosine have different frequencies",
            lambda length: _angles(length, width, order, 1, False),
        ),
        "exponent doubled": ("the exponent of a position is doubled", lambda length: _angles(length, width, order, 2, False)),
        "only sines": ("positions have only sines", lambda length: _angles(length, width, order, 3, False)),
        "exponent doubled, every column its own": (
            "the exponent of a position is 2i for sines and 2(i + 1) for cosines, with i the column of the sine",
            lambda length: _angles(length, width, order, 4, False),
        ),
        "exponent of cosines one pair on": (
            "cosines have the exponent of the next pair, 2(i + 1)",
            lambda length: _angles(length, width, order, 5, False),
        ),
        "exponent halved": ("the exponent of a position is halved", lambda length: _angles(length, width, order, 6, False)),
        "exponent with the wrong sign": (
            "the exponent of a position has the wrong sign, so that angles grow with the column",
            lambda length: _angles(length, width, order, 7, False),
        ),
        "sines in even rows": (
            "even positions have only sines and odd ones only cosines: rows are taken for columns",
            lambda length: _by_rows(length, width, order),
        ),
        "the same position for all": (
            "every token gets the position of the first one",
            lambda length: sinusoid(1, width, order).expand(length, -1),
        ),
        "the last position for all": (
            "every token gets one position, the length of the text",
            lambda length: sinusoid(length + 1, width, order)[-1:].expand(length, -1),
        ),
    }
    for base in BASES:
        words = f"the angles of positions are computed with {base:,} instead of 10,000"
        tables[f"another base: {base:,}"] = (
            words,
            lambda length, base=base: _angles(length, width, order, 0, False, base=base),
        )
    for name, (words, make) in tables.items():
        yield name, words, lambda _side, positions, _ids, make=make: make(len(positions)).to(positions.dtype)
    words = "positions are counted along the texts of the batch instead of along the tokens"
    yield "positions along the batch", words, lambda _side, _p, ids: sinusoid(len(ids), width, order).float()[:, None]


def _angles(
    length: int, width: int, order: str, form: int, exchanged: bool, cosines: bool = False, base: int = 10_000
) -> Tensor:
    """Sinusoidal positions [length, width] with other angles or waves. `form` chooses the exponent: 0, the column of the
    pair's sine, as usual; 1, the column; 2, twice the usual exponent; 3, the usual exponent, but only sines, or
    only cosines if `cosines`; 4, twice the column; 5, for cosines the exponent of the next pair; 6, half the usual exponent;
    7, the usual exponent with a minus sign. `exchanged` exchanges sines and cosines."""
    column = torch.arange(width, dtype=torch.float64)
    pair = column - column % 2
    exponent = (pair, column, 2 * pair, pair, 2 * column, pair + 2 * (column % 2), pair / 2, -pair)[form]
    angle = torch.arange(length, dtype=torch.float64)[:, None] / base ** (exponent / width)
    even = column % 2 == (1 if exchanged else 0)
    table = (angle.cos() if cosines else angle.sin()) if form == 3 else torch.where(even, angle.sin(), angle.cos())
    return torch.cat([table[:, 0::2], table[:, 1::2]], 1) if order == "halves" else table


def _by_rows(length: int, width: int, order: str) -> Tensor:
    """Positions whose even rows have only sines, and whose odd rows only cosines."""
    even = torch.arange(length)[:, None] % 2 == 0
    sines, cosines = (_angles(length, width, order, 3, False), _angles(length, width, order, 3, False, True))
    return torch.where(even, sines, cosines)


def _summed(
    setting: Setting, side: str, token: float, position: float, make: Callable[[str, Tensor, Tensor], Tensor] | None
) -> Change:
    ids = setting.source if side == "source" else setting.target

    def function(_: Tensor, scope: Scope) -> Tensor:
        tokens, positions = (scope.values[f"{side}_embedding.{name}"] for name in ("token", "position"))
        return tokens * token + position * (positions if make is None else make(side, positions, ids))

    return Change(f"{side}_embedding.sum", function)


def ids(setting: Setting) -> Iterator[Candidate]:
    """Yields the mistakes that `compare` tries in the ids: the encoder or the decoder reads other ids, such as a target that is
    not shifted."""
    source, target, pad = setting.source, setting.target, setting.config.target_pad
    first, fill = target[:, :1], torch.full_like(target[:, :1], pad)
    shifted = {
        "it reads each next token, which it should predict": [
            target[:, 1:],
            target.roll(-1, 1),
            torch.cat([target[:, 1:], fill], 1),
            torch.cat([target[:, 1:], target[:, -1:]], 1),
        ],
        "it leaves out the last token itself, so you should not shift it before": [target[:, :-1]],
        "it shifts the target to the right itself, so it is shifted twice": [
            torch.cat([first, target[:, :-1]], 1),
            torch.cat([fill, target[:, :-1]], 1),
            torch.cat([torch.zeros_like(fill), target[:, :-1]], 1),
            target.roll(1, 1),
        ],
        "it reads the target backwards": [target.flip(1)],
    }
    for words, variants in shifted.items():
        for variant in variants:
            if variant.shape[1] and not torch.equal(variant, target):
                listed = (f"the target is not shifted as for ours: {words}",)
                makes = [partial(Alteration, target=variant)]
                if variant.shape == target.shape:  # the mask may be made of the ids that were given
                    makes.append(partial(Alteration, (_embedded(setting, "target", variant),)))
                for make in makes:
                    yield Candidate(("target not shifted",), listed, "", ("target_embedding",), make)
    if source.shape != target.shape or not torch.equal(source, target):
        make = partial(Alteration, target=source)
        yield Candidate(
            ("decoder reads the source",),
            ("the decoder reads the source instead of the target",),
            "",
            ("target_embedding",),
            make,
        )
        make = partial(Alteration, source=target)
        yield Candidate(
            ("encoder reads the target",),
            ("the encoder reads the target instead of the source",),
            "",
            ("source_embedding",),
            make,
        )
    backwards = source.flip(1)
    for make in (partial(Alteration, source=backwards), partial(Alteration, (_embedded(setting, "source", backwards),))):
        yield Candidate(("source backwards",), ("the source is read backwards",), "", ("source_embedding",), make)


def _embedded(setting: Setting, side: str, ids: Tensor) -> Change:
    """A change with which a side (`source` or `target`) embeds `ids`, while the masks are still made of the original ids."""
    name = "scaled" if setting.config.scale_embedding else "token"
    factor = math.sqrt(setting.config.d_model) if setting.config.scale_embedding else 1.0
    table = setting.module(f"{side}_embedding.table")
    return Change(f"{side}_embedding.{name}", lambda _values, _scope: table(ids) * factor)
