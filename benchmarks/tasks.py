"""Count the clicks from Home to what people want to know: thirteen tasks in a browser.

    python -m benchmarks.tasks

A click, a tap and a choice in a list count; pointing, scrolling and typing do not.
"""

import re
import sys
from collections.abc import Callable
from contextlib import closing

from playwright.sync_api import Locator, expect, sync_playwright

from benchmarks.app_server import ROOT
from tests.pages.visitor import ARGUMENTS, CHROMIUM, Visitor, serving
from transformer import Pipeline

PARTS = '[data-testid="stButtonGroup"]'


class Person:
    """A visitor who starts on Home with the first text (`the animal … too tired`), and whose clicks are counted."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor, self.page, self.clicks = visitor, visitor.page, 0

    def home(self) -> None:
        self.visitor.open("", whole=True)
        self.clicks = 0

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1
        self.visitor.settle()

    def go(self, page: str) -> None:
        self.click(self.page.get_by_test_id("stSidebarNav").get_by_role("link", name=page, exact=True))
        self.page.get_by_role("heading", name=page, level=1).wait_for()

    def choose(self, option: str) -> None:
        self.click(self.page.locator(PARTS).get_by_text(option, exact=True).first)

    def press(self, name: str | re.Pattern[str]) -> None:
        self.click(self.page.get_by_role("button", name=name).first)

    def sees(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()


def rue(person: Person) -> None:
    person.go("Attention")
    expect(person.page.locator(".ytick text").filter(has_text="la → rue").first).to_be_attached()


def matters_most(person: Person) -> None:
    person.go("Attention")
    person.choose("what-if")
    person.visitor.see_all()
    person.click(person.page.locator(PARTS).get_by_text("10: il", exact=True).first)
    person.sees(re.compile(r"cross-attention, layer 1, head 2.*falls by", re.DOTALL | re.IGNORECASE))


def just_trained(person: Person) -> None:
    person.visitor.open("training?model=reverse&part=live&live_steps=200&live_width=16", whole=True)
    person.page.get_by_role("button", name="Start training").click()
    look = person.page.get_by_role("button", name="Look inside, on Attention")
    look.wait_for()
    person.visitor.settle()
    person.clicks = 0
    person.click(look)
    person.page.get_by_role("heading", name="Attention", level=1).wait_for()
    expect(person.page.locator(".js-plotly-plot .main-svg").first).to_be_visible()


def tired_or_wide(person: Person) -> None:
    person.choose("wide")
    person.sees(re.compile("elle, because"))


def svg(person: Person) -> None:
    person.go("Attention")
    person.press("Save")
    with person.page.expect_download() as download:
        person.click(person.page.get_by_role("button", name="Picture as SVG").first)
    assert download.value.suggested_filename.endswith(".svg")


def link(person: Person) -> None:
    person.press("Copy link")
    person.sees("✓ Copied")


def ids(person: Person) -> None:
    person.go("Tokens")
    (animal,) = Pipeline.load("english-french").vocabulary("source").ids(["animal"])
    expect(person.page.get_by_test_id("stMain").get_by_text(f"id {animal} →").first).to_be_visible()


def padding(person: Person) -> None:
    person.go("Masks")
    person.choose("no padding mask")
    person.visitor.see_all()
    expect(person.page.locator(".st-key-leak-padding-off .main-svg").first).to_be_visible()


def writing(person: Person) -> None:
    person.go("Watch it write")
    person.press(re.compile("Play|▶"))
    person.sees(re.compile("step [2-9]"))


def one_number(person: Person) -> None:
    person.go("Attention")
    person.choose("steps")
    person.visitor.see_all()
    person.sees(re.compile("Everything this"))


def shapes(person: Person) -> None:
    person.go("Layers")
    expect(person.page.locator(".tree").first).to_be_visible()


def silencing(person: Person) -> None:
    person.click(person.page.get_by_test_id("stMain").get_by_role("link", name="Silence the head and see"))
    person.sees(re.compile("Will the answer change"))


def lesson(person: Person) -> None:
    person.press(re.compile("First look"))
    person.page.locator(".bar[data-stop='1']").wait_for()


# What a person wants; the most clicks; how.
TASKS: list[tuple[str, int, Callable[[Person], None]]] = [
    ("what did “rue” look at", 3, rue),
    ("which head matters most for “il”", 3, matters_most),
    ("look into a model that was just trained", 3, just_trained),
    ("tired or wide", 1, tired_or_wide),
    ("save a map as SVG", 3, svg),
    ("copy a link", 2, link),
    ("the ids of the tokens", 2, ids),
    ("what padding does without its mask", 2, padding),
    ("watch the answer being written", 2, writing),
    ("every number of one head", 2, one_number),
    ("the tensors of each layer", 1, shapes),
    ("silence the head that turns", 1, silencing),
    ("begin the first lesson", 1, lesson),
]


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        print("| task | clicks | at most |\n| --- | --- | --- |")
        asked = sys.argv[1:]
        for what, most, do in TASKS:
            if asked and not any(word in what for word in asked):
                continue
            with serving(ROOT / "app.py") as address, closing(Visitor(browser, address)) as visitor:
                visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
                person = Person(visitor)
                person.home()
                do(person)
                print(f"| {what} | {person.clicks} | {most}{'' if person.clicks <= most else ', NO'} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
