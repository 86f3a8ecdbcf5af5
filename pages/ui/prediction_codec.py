"""The state of all questions as one value of the URL, `predict`.

`attention.7:3.5-8~3~shown` asks about place 7. The first answer was the cells 3 and 5 to 8, the second answer was cell 3, and
the truth is shown. `attention:` is a question without an answer yet. Commas separate several questions.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

SHOWN = "shown"
# Limits of what a URL may contain: number of questions, and runs of cells in an answer. The patterns limit the digits.
MOST_QUESTIONS, MOST_RUNS = 8, 400
NAME = re.compile(r"([a-z]{1,20})(?:\.(\d{1,4}))?", re.ASCII)
RUN = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)

Cells = tuple[int, ...]


@dataclass(frozen=True)
class Prediction:
    """The state of one question that a page asks a learner.

    Attributes:
        answers: one answer, or two if the learner answered once more. An answer is a tuple of marked cells, ascending.
        place: the place that the question is about, such as a row, counted from 0; None for the page's own choice.
        shown: whether the truth is shown.
    """

    answers: tuple[Cells, ...] = ((),)
    place: int | None = None
    shown: bool = False

    @property
    def answer(self) -> Cells:
        """The last answer: its marked cells, ascending; empty without an answer."""
        return self.answers[-1]

    @property
    def first(self) -> Cells | None:
        """The first answer if there are two, otherwise None."""
        return self.answers[0] if len(self.answers) > 1 else None

    def within(self, cells: int, places: int) -> "Prediction":
        """A copy without cells whose number is not below `cells`, and without a place that is not below `places`."""
        answers = tuple(tuple(cell for cell in answer if cell < cells) for answer in self.answers)
        place = self.place if self.place is not None and self.place < places else None
        return replace(self, answers=answers, place=place)


def written(predictions: Mapping[str, Prediction]) -> str:
    """The questions (name → state) as the text of the query parameter `predict`; `read` is the inverse."""
    return ",".join(_written(name, prediction) for name, prediction in predictions.items())


def read(value: str) -> dict[str, Prediction]:
    """The questions in a text of the query parameter `predict`, by name. A URL is untrusted: an invalid question is left
    out, and a question with an invalid answer is read without its answers."""
    predictions = {}
    for part in value.split(",")[:MOST_QUESTIONS]:
        head, colon, answers = part.partition(":")
        named = NAME.fullmatch(head)
        if not (named and colon):
            continue
        place = None if named[2] is None else int(named[2])
        pieces = answers.split("~")
        shown = pieces[-1] == SHOWN
        cells = [read_cells(piece) for piece in (pieces[:-1] if shown else pieces)]
        known = [answer for answer in cells if answer is not None]
        if len(known) < len(cells) or not 1 <= len(cells) <= 2:
            predictions[named[1]] = Prediction(place=place)
        else:
            predictions[named[1]] = Prediction(tuple(known), place, shown)
    return predictions


def _written(name: str, prediction: Prediction) -> str:
    place = "" if prediction.place is None else f".{prediction.place}"
    pieces = [*map(written_cells, prediction.answers), *([SHOWN] if prediction.shown else [])]
    return f"{name}{place}:{'~'.join(pieces)}"


def written_cells(cells: Cells) -> str:
    """Ascending cells as text: 3, 5, 6, 7, 8 → `3.5-8`; three or more neighbouring cells are written as a run. `read_cells` is
    the inverse."""
    parts: list[list[int]] = []
    for cell in cells:
        if parts and cell == parts[-1][-1] + 1:
            parts[-1].append(cell)
        else:
            parts.append([cell])
    pieces = [f"{part[0]}-{part[-1]}" if len(part) > 2 else ".".join(map(str, part)) for part in parts]
    return ".".join(pieces)


def read_cells(piece: str) -> Cells | None:
    """The cells of one answer, ascending; None if the text is invalid. A URL is untrusted."""
    if not piece:
        return ()
    runs = [RUN.fullmatch(part) for part in piece.split(".", MOST_RUNS)]
    cells: set[int] = set()
    for run in runs:
        if run is None:
            return None
        first, last = int(run[1]), int(run[2] or run[1])
        if not 0 <= last - first < 10_000:
            return None
        cells.update(range(first, last + 1))
    return tuple(sorted(cells))
