"""The first page: the whole model as a map with the visitor's own sentence, and links to the other pages."""

from pages.home.model_map import show_map
from pages.home.overview import show_first_lesson, show_numbers, show_starts, show_tour
from pages.home.turning_rows import can_turn, show_turning_rows
from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import pick_part, section, seen
from pages.shell.view.run_banner import show_run
from pages.ui.text import text
from transformer import Transformer

words = text("home")
show_first_lesson()

first = "examples"  # helps most if a text cannot be read
try:
    with explained():
        view, trace = show_run(labelled=True)

        show_map(view, trace)
        show_numbers(view, trace)
        first = "one-word"
finally:
    parts = {name: says for name, says in words["parts"].items() if can_turn() or name != "one-word"}
    anchors = {"tired-or-wide": ["one-word"], "starts": ["examples"], "tour": ["tour"]}
    part = pick_part(words["part"], parts, anchors, first if first in parts else None)
    if part == "one-word":
        if section(words["turning"]["heading"], "tired-or-wide", 640):
            show_turning_rows()
    elif part == "examples":
        if section(words["starts_heading"], "starts", 450):
            show_starts()
    elif seen("tour", 390):
        show_tour()

    show_computed(words["computed_text"], Transformer.forward, Transformer.encode, Transformer.decode)
    show_next(words["next_text"])
