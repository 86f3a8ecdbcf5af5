"""The scripts of the pages: every browser can load them and all that they import, also below the base path of an operator."""

import re
from pathlib import PurePosixPath

import pytest
from playwright.sync_api import BrowserContext

from benchmarks.app_server import ROOT, serving
from pages.ui.scripts import PAGES, SCRIPTS, address_of, importing
from tests.pages.visitor import Visitor

SCRIPT = PAGES / "home" / "map.js"


def test_every_import_has_an_address() -> None:
    assert len(SCRIPTS) > 50
    for address, script in SCRIPTS.items():
        for imported in re.findall(r'^(?:import .*|\}) from "(.*)";$', script.decode(), re.MULTILINE):
            folder = PurePosixPath(address).parent
            while imported.startswith("../"):
                folder, imported = folder.parent, imported.removeprefix("../")
            assert str(folder / imported) in SCRIPTS, (address, imported)


def test_the_text_of_a_component_imports_its_script() -> None:
    assert address_of(SCRIPT) in SCRIPTS
    assert address_of(SCRIPT) in importing(SCRIPT)
    assert len(importing(SCRIPT)) < 250  # sent with every change of the component's data


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("path", ["", "attention"])
def test_scripts_are_loaded_below_a_base_path_and_shared(known: BrowserContext, path: str) -> None:
    with serving(ROOT / "app.py", base="school/headlight") as server:
        visitor = Visitor(known, server.address)
        loaded: list[str] = []
        visitor.page.on("request", lambda request: loaded.append(request.url.removeprefix(f"{server.address}/")))
        page = visitor.open(f"{path}?model=reverse&source=abc")
        page.locator(".head_grid[data-painted]" if path else ".map canvas").first.wait_for()
        if path:
            page.get_by_test_id("stSidebarNav").get_by_role("link").first.click()
            page.locator(".map canvas").first.wait_for()
        assert loaded.count(address_of(PAGES / "ui" / "compat.js")) == 1
        assert visitor.complaints == []
        visitor.close()
