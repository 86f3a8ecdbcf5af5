"""The map of a model as HTML elements (lists) that `map.js` puts into the page. `map.js` adds layers, weights and lines."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from pages.home.part_links import Link, packed
from pages.shell.frame.glossary import meaning
from pages.ui.component import Element
from pages.ui.text import text
from transformer.text.vocabulary import SPECIALS

MOST_ACROSS = 8  # small pictures of heads in a row; more are drawn in two rows
# Name of a mask in the texts → its term in the glossary.
MASK_TERMS = {"source": "padding mask", "causal": "causal mask"}


class MapElements:
    """Makes the HTML elements of a map. A callout is a numbered line of text about a block. Make the blocks in the order of the
    data flow: each new callout gets the next number.

    Attributes:
        links: the links of all elements. The attribute `data-link` of an element is the index of its link in this list.
        terms: term → its meaning, for the terms that the elements name.
    """

    def __init__(
        self, depths: Mapping[str, int], heads: Mapping[str, dict[str, Any]] | None, base: dict[str, Any], numbered: bool
    ) -> None:
        """
        Args:
            depths: stack → its number of layers.
            heads: kind of attention → shape, bytes and tokens of its weights; None if the heads have no pictures.
            base: the query parameters that all links of the map have.
            numbered: whether the blocks with a callout have numbers.
        """
        self.words = text("home")["map"]
        self.links: list[Any] = []
        self.terms: dict[str, str] = {}
        self._depths, self._heads, self._base, self._numbered = depths, heads, base, numbered
        self._callouts: list[str] = []

    def all(self, columns: list[Element]) -> list[Element]:
        """The whole map: the lines of its callouts, its columns, and the meanings of its terms for screen readers. Call it
        last. If the heads have pictures, it adds their legend to the first of the `columns`."""
        if self._heads is not None:
            columns[0].append(self._legend())
        lines: list[Element] = [["li", {}, ["span", {}, says]] for says in self._callouts]
        numbered = [["ol", {"class": "callouts", "aria-label": self.words["callouts_label"]}, *lines]] if lines else []
        sheet = ["div", {"class": "sheet" if len(columns) > 1 else "sheet one"}, *columns]
        meanings: list[Element] = [["p", {"id": _id_of(term)}, says] for term, says in self.terms.items()]
        return [*numbered, ["nav", {"aria-label": self.words["label"]}, sheet], ["div", {"hidden": ""}, *meanings]]

    def column(self, stack: str, side: str, blocks: list[Element]) -> Element:
        name = text("home")[stack]
        attributes = {"class": f"column {side}", "style": f"--color: var(--{stack})", "aria-label": name}
        return ["section", attributes, ["h3", {}, name], *blocks]

    def stack(self, stack: str, callout: str, *blocks: Element) -> Element:
        """The frame around the `blocks` of one layer, with a button for each layer of the `stack`. If the frame has a `callout`
        (a numbered line of text, by its name), no block may have one, because the blocks would be numbered first."""
        words, count = self.words, self._depths[stack]
        buttons: list[Element] = [
            ["button", {"type": "button", "data-layer": layer, "aria-label": words["layer"].format(layer=layer)}, str(layer)]
            for layer in range(1, count + 1)
        ]
        attributes = {"class": "layers", "role": "group", "aria-label": words["layers_label"]}
        head = ["div", attributes, ["span", {}, words["layers"].format(count=count)], *buttons]
        return [
            "div",
            {"class": "stack", "data-stack": stack},
            *self._number(callout),
            self._explained(head, ["layer"]),
            *blocks,
        ]

    def tokens(
        self,
        says: str,
        tokens: Sequence[str],
        link: Link,
        terms: Sequence[str],
        callout: str,
        shares: Sequence[str] = (),
    ) -> Element:
        """A row of tokens, or of another answer such as labels, as one link.

        Args:
            says: the label above the row.
            terms, callout: the glossary's terms that explain the row; the name of its callout (a numbered line of text) or "".
            shares: the probability of each token as text, if it is known.
        """
        chips = [
            self._explained(["span", {"class": "chip"}, *_chip(token, share)], _specials([token]))
            for token, share in zip_longest(tokens, shares, fillvalue="")
        ]
        row = self._anchor(link, {"class": "chips"}, *(chips or [self.words["nothing"]]))
        return self._row(says, callout, self._explained(row, [*terms, *_specials(tokens)]))

    def answer(
        self, says: str, tokens: Sequence[str], shares: Sequence[str], steps: Sequence[int], tips: Sequence[str]
    ) -> Element:
        """The tokens that a model wrote, each with its probability and as a link to the step that wrote it.

        Args:
            says, shares: the label above the tokens; the probability of each token as text.
            steps: the number of the step that wrote each token, counted from 1.
            tips: a text about each token.
        """
        link, chips = Link("decoding", {"step": "{step}"}), []
        for token, share, step, tip in zip(tokens, shares, steps, tips, strict=True):
            attributes = {"class": "chip", "title": tip, "data-tip": tip, "data-step": step}
            chip = self._anchor(link, attributes, *_chip(token, share))
            chips.append(self._explained(chip, _specials([token]) or ["probability"]))
        return self._row(says, "answer", ["span", {"class": "chips"}, *(chips or [self.words["nothing"]])])

    def _row(self, says: str, callout: str, row: Element) -> Element:
        return ["div", {"class": "tokens"}, *self._number(callout), ["span", {"class": "label"}, says], row]

    def block(
        self,
        title: str,
        note: str,
        link: Link,
        terms: Sequence[str],
        callout: str = "",
        *,
        sort: str = "",
        kind: str = "",
        name: str = "",
        mask: str = "",
    ) -> Element:
        """A block of the network, with its title and its note (empty for none) as one link.

        Args:
            terms, callout: the glossary's terms that explain the block; the name of its callout (a line of text) or "".
            sort: further CSS classes: `thin` for a low block, `branches` if the residual stream flows past the block.
            kind: the kind of attention whose colour the block has; by default, the block has the colour of its column.
            name: the id of the element, for the script.
            mask: for an attention block, a key of `MASK_TERMS`. If the map has pictures, the block has those of its heads.
        """
        attributes = {"class": " ".join(filter(None, ["block", sort, "own" if kind else ""]))}
        attributes |= {"style": f"--color: var(--{kind})"} if kind else {}
        attributes |= {"id": name} if name else {}
        note_of = [["span", {"class": "note"}, note]] if note else []
        number = self._number(callout)
        named = self._anchor(link, {"class": "name"}, ["span", {"class": "title"}, title], *note_of)
        line = ["div", {"class": "line"}, self._explained(named, terms)]
        if mask:
            named_mask = self._anchor(Link("masks", {}), {"class": "mask"}, self.words["masks"][mask])
            line.append(self._explained(named_mask, [MASK_TERMS[mask]]))
        pictures = [self._pictures(kind, title, self._heads[kind]["shape"][1])] if mask and self._heads is not None else []
        return ["div", attributes, *number, line, *pictures]

    def _pictures(self, kind: str, title: str, count: int) -> Element:
        """A small empty canvas for each of the `count` heads of a layer. The script paints the weights of the head on it."""
        link = Link("attention", {"kind": kind, "layer": "{layer}", "head": "{head}", "part": "map"})
        cells = []
        for head in range(1, count + 1):
            attributes = {"data-kind": kind, "data-head": head, "data-block": title}
            cells.append(self._explained(self._anchor(link, attributes, ["canvas", {}]), ["head", "attention weight"]))
        across = -(-count // 2) if count > MOST_ACROSS else count
        return ["div", {"class": "heads", "style": f"--across: {across}"}, *cells]

    def _legend(self) -> Element:
        bar, swatch = ["span", {"class": "bar"}], ["span", {"class": "swatch"}]
        parts: list[Element] = [[self.words["legend"]], ["0", bar, "1"], [swatch, self.words["masked"]]]
        return ["div", {"class": "legend"}, *(["span", {}, *part] for part in parts)]

    def _number(self, callout: str) -> list[Element]:
        """The number of a new callout, as a list of one element. Adds the line of the callout. Empty if `callout` is empty or
        the map has no numbers."""
        if not (callout and self._numbered):
            return []
        self._callouts.append(self.words["callouts"][callout])
        return [["span", {"class": "number", "aria-hidden": "true"}, str(len(self._callouts))]]

    def _anchor(self, link: Link, attributes: dict[str, Any], *children: Any) -> Element:
        """An element with `children`: a link, or a `span` if the page of the link does not exist."""
        pack = packed(link, self._base)
        if pack is None:
            return ["span", attributes, *children]
        self.links.append(pack)
        return ["a", attributes | {"data-link": len(self.links) - 1}, *children]

    def _explained(self, element: Element, terms: Sequence[str]) -> Element:
        """`element` itself, with added attributes, so that the glossary explains `terms`: in a box beside the element, and as
        its description for screen readers. Terms that are not in the glossary are ignored."""
        self.terms |= {term: says for term in terms if term not in self.terms and (says := meaning(term))}
        known = [term for term in terms if term in self.terms]
        if known:
            described = " ".join(map(_id_of, known))
            element[1]["data-terms"] = json.dumps(known)
            for part in (element, *(child for child in element[2:] if isinstance(child, list))):
                if part[0] in ("a", "button"):
                    part[1]["aria-describedby"] = described
        return element


def _chip(token: str, share: str) -> list[Any]:
    """A token, and its probability if that is known."""
    return [token if token.strip() else "␣", *([["small", {}, share]] if share else [])]


def _specials(tokens: Iterable[str]) -> list[str]:
    """The special tokens among some tokens. The glossary explains them; another token can be a term only by chance."""
    return [token for token in dict.fromkeys(tokens) if token in SPECIALS]


def _id_of(term: str) -> str:
    """The id of the element with the meaning of a term."""
    return "term-" + re.sub(r"\W+", "-", term)
