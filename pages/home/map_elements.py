"""The map of a model as elements, which `map.js` puts into the page. The script adds what moves: layers, weights and lines."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pages.home.map_results import Node
from pages.ui.component import Element

MOST_ACROSS = 8  # small pictures of heads in a row; more are drawn in two rows


class MapElements:
    """Makes the elements of a map.

    Attributes:
        meanings: term → its meaning, for the terms that are explained.
        depths: stack → its number of layers.
        heads: kind of attention → its weights and the link to one head; None if the heads have no pictures.
        words: the texts of the map.
        links: the links of all elements. The attribute `data-link` of an element is the index of its link in this list.
    """

    def __init__(
        self,
        meanings: Mapping[str, str],
        depths: Mapping[str, int],
        heads: Mapping[str, Node] | None,
        words: Mapping[str, Any],
    ) -> None:
        self.meanings, self.depths, self.heads, self.words = meanings, depths, heads, words
        self.links: list[Any] = []

    def all(self, columns: Sequence[Node], callouts: Sequence[str]) -> list[Element]:
        """The whole map: the lines of its callouts, its columns, and the meanings of its terms for screen readers."""
        drawn = [self._column(column, side) for column, side in zip(columns, ("left", "right"), strict=False)]
        if self.heads is not None:
            drawn[0].append(self._legend())
        lines: list[Element] = [["li", {}, ["span", {}, says]] for says in callouts]
        numbered = [["ol", {"class": "callouts", "aria-label": self.words["callouts_label"]}, *lines]] if lines else []
        sheet = ["div", {"class": "sheet" if len(columns) > 1 else "sheet one"}, *drawn]
        meanings: list[Element] = [["p", {"id": _id_of(term)}, says] for term, says in self.meanings.items()]
        return [*numbered, ["nav", {"aria-label": self.words["label"]}, sheet], ["div", {"hidden": ""}, *meanings]]

    def _column(self, column: Node, side: str) -> Element:
        kind = column["kind"]
        blocks = [
            self._stack(node) if node["type"] == "stack" else self._single(node, kind, inside=False) for node in column["nodes"]
        ]
        attributes = {"class": f"column {side}", "style": f"--color: var(--{kind})", "aria-label": column["name"]}
        return ["section", attributes, ["h3", {}, column["name"]], *blocks]

    def _stack(self, node: Node) -> Element:
        """The frame around one layer, with a button for each layer."""
        stack, words = node["stack"], self.words
        count = self.depths[stack]
        buttons: list[Element] = [
            ["button", {"type": "button", "data-layer": layer, "aria-label": words["layer"].format(layer=layer)}, str(layer)]
            for layer in range(1, count + 1)
        ]
        attributes = {"class": "layers", "role": "group", "aria-label": words["layers_label"]}
        head = ["div", attributes, ["span", {}, words["layers"].format(count=count)], *buttons]
        blocks = [self._single(inner, stack, inside=True) for inner in node["nodes"]]
        return ["div", {"class": "stack", "data-stack": stack}, *_number(node), self._explained(head, node["terms"]), *blocks]

    def _single(self, node: Node, kind: str, inside: bool) -> Element:
        return self._tokens(node) if node["type"] == "tokens" else self._block(node, kind, inside)

    def _tokens(self, node: Node) -> Element:
        chips = [self._chip(node, index) for index in range(len(node["tokens"]))]
        steps = "tips" in node
        row = self._anchor(None if steps else node["link"], {"class": "chips"}, *(chips or [self.words["nothing"]]))
        if not steps:
            row = self._explained(row, [*node["terms"], *dict.fromkeys(node["tokens"])])
        return ["div", {"class": "tokens"}, *_number(node), ["span", {"class": "label"}, node["says"]], row]

    def _chip(self, node: Node, index: int) -> Element:
        """A token, with its probability if the model wrote it. A token of an answer links to the step that wrote it."""
        token = node["tokens"][index]
        words = [token if token.strip() else "␣", *([["small", {}, node["shares"][index]]] if "shares" in node else [])]
        if not node.get("step"):
            return self._explained(["span", {"class": "chip"}, *words], [token])
        tip = node["tips"][index]
        attributes = {"class": "chip", "title": tip, "data-tip": tip, "data-step": node["steps"][index]}
        return self._explained(
            self._anchor(node["step"], attributes, *words), [token] if token in self.meanings else node["terms"]
        )

    def _block(self, node: Node, kind: str, inside: bool) -> Element:
        sort = [name for name, has in (("thin", "thin"), ("own", "kind"), ("branches", "branches")) if node.get(has)]
        style = f"--color: var(--{node.get('kind', kind)})"
        attributes = {"class": " ".join(["block", *sort]), "style": style} | ({"id": node["id"]} if "id" in node else {})
        note = [["span", {"class": "note"}, node["note"]]] if node["note"] else []
        name = self._anchor(node["link"], {"class": "name"}, ["span", {"class": "title"}, node["title"]], *note)
        line = ["div", {"class": "line"}, self._explained(name, node["terms"])]
        if node.get("mask"):
            mask = self._anchor(node["mask"], {"class": "mask"}, node["mask_says"])
            line.append(self._explained(mask, node["mask_terms"]))
        heads = [self._heads(node)] if inside and self.heads is not None and "heads" in node else []
        return ["div", attributes, *_number(node), line, *heads]

    def _heads(self, node: Node) -> Element:
        """The small pictures of the weights of all heads of a layer, which the script paints."""
        assert self.heads is not None
        kind, heads = node["heads"], self.heads[node["heads"]]
        count = heads["shape"][1]
        cells = []
        for head in range(1, count + 1):
            attributes = {"data-kind": kind, "data-head": head, "data-block": node["title"]}
            cells.append(self._explained(self._anchor(heads["link"], attributes, ["canvas", {}]), node["heads_terms"]))
        across = -(-count // 2) if count > MOST_ACROSS else count
        return ["div", {"class": "heads", "style": f"--across: {across}"}, *cells]

    def _legend(self) -> Element:
        bar, swatch = ["span", {"class": "bar"}], ["span", {"class": "swatch"}]
        parts: list[Element] = [[self.words["legend"]], ["0", bar, "1"], [swatch, self.words["masked"]]]
        return ["div", {"class": "legend"}, *(["span", {}, *part] for part in parts)]

    def _anchor(self, link: Any, attributes: dict[str, Any], *children: Any) -> Element:
        """A link; plain text if its page does not exist."""
        if not link:
            return ["span", attributes, *children]
        self.links.append(link)
        return ["a", attributes | {"data-link": len(self.links) - 1}, *children]

    def _explained(self, element: Element, terms: Sequence[str]) -> Element:
        """An element that the glossary explains: in a box beside it, and as its description for screen readers."""
        known = [term for term in terms if term in self.meanings]
        if known:
            described = " ".join(map(_id_of, known))
            element[1]["data-terms"] = json.dumps(known)
            for part in (element, *(child for child in element[2:] if isinstance(child, list))):
                if part[0] in ("a", "button"):
                    part[1]["aria-describedby"] = described
        return element


def _number(node: Node) -> list[Element]:
    """The element with a block's number among the callouts; empty if the block has none."""
    return [["span", {"class": "number", "aria-hidden": "true"}, str(node["number"])]] if "number" in node else []


def _id_of(term: str) -> str:
    """The id of the element with the meaning of a term."""
    return "term-" + re.sub(r"\W+", "-", term)
