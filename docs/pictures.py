"""Take the pictures of the README anew from the running app: `python -m docs.pictures`.

Needs what the tests need: requirements-dev.txt and a browser. Look at every picture before you commit it.
"""

import io
import sys
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_plus

from PIL import Image
from playwright.sync_api import FloatRect, Page, sync_playwright

from benchmarks.app_server import ROOT, serving
from pages.ui.compat import key_class
from tests.pages.visitor import ARGUMENTS, CHROMIUM, Visitor

FOLDER = Path(__file__).with_name("pictures")
WIDTH, SCALE = 1180, 1.5  # width of the window in px; pixels of a picture to a px
COLORS = 256  # of a picture
SENTENCE = "source=" + quote_plus("the animal did not cross the street because it was too tired .")
TURNED = "b=" + quote_plus("the animal did not cross the street because it was too wide .") + f"&{SENTENCE}"
SHORT = "source=" + quote_plus("the cat sleeps .")
FRAME_HEIGHT, FRAME_COLORS = 412, 64  # of the animation; the height in px
STEP_MS, LAST_MS = 900, 3_000  # how long a step of the animation is shown, and its last


class Picture(NamedTuple):
    """A picture of a page.

    Attributes:
        name: of the file, without its ending.
        link: the page with its choices and the part to open at.
        height: of the picture, in px.
        down: how far below the place that the link opens at it begins, in px; with `chart`, below that.
        chart: the key of a chart.
        sidebar: whether it shows the sidebar.
    """

    name: str
    link: str
    height: int
    down: int = 0
    chart: str = ""
    sidebar: bool = False


PICTURES = (
    Picture("home", f"?{SENTENCE}", 900, sidebar=True),
    Picture("attention", f"attention?{SENTENCE}#overview", 725),
    Picture("masks", f"masks?{SHORT}#further", 615, down=130),
    Picture("layers", f"layers?{SENTENCE}&stop=encoder.layers.0.self_attention.weights&head=1", 790, down=335),
    Picture("training", f"training?model=english-french-redundant&{SHORT}#film", 640),
    Picture("patching", f"patching?{TURNED}&part=need", 545, chart="need-map"),
)
WRITING = "decoding?model=everyday&source=" + quote_plus("I forgot my keys at the office.")


def main() -> None:
    """Take all pictures, or those whose names are given."""
    names = sys.argv[1:] or [*(picture.name for picture in PICTURES), "writing"]
    FOLDER.mkdir(exist_ok=True)
    with serving(ROOT / "app.py") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for picture in PICTURES:
            if picture.name in names:
                visitor = _visitor(browser, server.address, picture.height)
                visitor.open(picture.link)
                visitor.page.wait_for_timeout(3_000)  # a part is kept at its place until the page has been at rest so long
                if picture.chart:
                    visitor.page.locator(f".{key_class(picture.chart)}").evaluate("chart => chart.scrollIntoView()")
                visitor.page.evaluate("down => document.querySelector('.stMain').scrollBy(0, down)", picture.down)
                visitor.settle()
                _small(_taken(visitor.page, picture.sidebar)).save(FOLDER / f"{picture.name}.png", optimize=True)
                visitor.close()
        if "writing" in names:
            visitor = _visitor(browser, server.address, FRAME_HEIGHT + 120)
            _save_animation(visitor)
            visitor.close()
        browser.close()
    for file in sorted(FOLDER.iterdir()):
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


def _visitor(browser: object, address: str, height: int) -> Visitor:
    """A visitor in the light theme whose window has this height."""
    screen = {"viewport": {"width": WIDTH, "height": height}, "device_scale_factor": SCALE, "color_scheme": "light"}
    return Visitor(browser, address, **screen)


def _taken(page: Page, sidebar: bool) -> Image.Image:
    """What the window shows, with or without the sidebar."""
    page.mouse.move(-9, -9)
    box = page.get_by_test_id("stMain").bounding_box()
    assert box is not None
    clip: FloatRect | None = None if sidebar else {"x": box["x"], "y": 0, "width": box["width"], "height": box["height"]}
    return Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")


def _small(picture: Image.Image) -> Image.Image:
    """A picture with a palette, which takes a third of the bytes."""
    return picture.quantize(COLORS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)


def _save_animation(visitor: Visitor) -> None:
    """The model writing its answer, a step a frame."""
    page = visitor.open(WRITING)
    player = page.locator(".player").first
    slider = page.locator(".playback input[type=range]")
    page.evaluate("down => document.querySelector('.stMain').scrollBy(0, down)", (player.bounding_box() or {})["y"] - 70)
    frames = []
    steps = int(slider.get_attribute("max") or 0)
    for step in range(steps + 1):
        if step:
            page.locator(".playback .forward").click()
        page.mouse.move(-9, -9)
        visitor.settle()
        box = player.bounding_box()
        assert box is not None
        clip: FloatRect = {"x": box["x"] - 20, "y": box["y"] - 8, "width": box["width"] + 40, "height": FRAME_HEIGHT}
        frame = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
        frames.append(frame.resize((round(clip["width"]), FRAME_HEIGHT), Image.Resampling.LANCZOS))
    small = _one_palette(frames)
    durations = [*[STEP_MS] * steps, LAST_MS]
    small[0].save(FOLDER / "writing.webp", save_all=True, append_images=small[1:], duration=durations, loop=0, lossless=True)


def _one_palette(frames: list[Image.Image]) -> list[Image.Image]:
    """Frames with one palette for all: what does not change from one to the next then takes no bytes."""
    width, height = frames[0].size
    sample = Image.new("RGB", (width, height * len(frames)))
    for place, frame in enumerate(frames):
        sample.paste(frame, (0, height * place))
    palette = sample.quantize(FRAME_COLORS, method=Image.Quantize.MAXCOVERAGE)
    return [frame.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB") for frame in frames]


if __name__ == "__main__":
    main()
