"""Every page, without a browser. A new page joins by being there."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.navigation import page_files
from pages.ui.text import text as texts

ROOT = Path(__file__).parents[3]
PAGES = [str(file.relative_to(ROOT)) for file in page_files()]
NONSENSE = ["", "   ", "a1b", "x" * 500, "🙂🙂", "<script>alert(1)</script>", "**bold** $x$ [a](b)", "\u202eabc", "a'b\"c`d"]


def opened(page: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    return app.switch_page(page).run()


def test_no_page_lies_where_streamlit_would_run_it_without_the_app() -> None:
    assert [file.name for file in (ROOT / "pages").glob("*.py")] == ["__init__.py"]
    assert {file.parent.name for file in (ROOT / "pages").glob("*/*.py")} <= {
        *(Path(page).parent.name for page in PAGES),
        "ui",
        "shell",
    }


@pytest.mark.parametrize("page", PAGES)
def test_page_opens(page: str) -> None:
    app = opened(page)
    assert not app.exception
    assert not app.error
    assert app.title


@pytest.mark.parametrize("page", PAGES)
def test_every_chart_says_what_it_shows(page: str) -> None:
    for chart in opened(page).get("plotly_chart"):
        assert chart.proto.alt


@pytest.mark.parametrize(
    "page", [page for page in PAGES if not page.startswith("pages/layers")]
)  # its parts have their own tests
def test_how_it_is_computed_is_sent_when_it_is_opened(page: str) -> None:
    """Source that nobody looks at would cost every first visitor the highlighter, and every click its own bytes."""
    app = opened(page)
    assert not app.code
    app.query_params["computed"] = "true"
    app.run()
    (unfolded,) = [each for each in app.expander if each.label == texts("common")["computed"]]
    assert unfolded.code
    assert unfolded.markdown
    assert not app.exception


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("text", NONSENSE)
def test_page_takes_any_text(page: str, text: str) -> None:
    app = opened(page)
    app.sidebar.text_input(key="source").set_value(text).run()
    assert not app.exception
    fault = [error.value for error in app.error if "our side" in error.value]
    assert not fault


@pytest.mark.parametrize("page", PAGES)
def test_page_takes_any_target(page: str) -> None:
    app = opened(page)
    for text in NONSENSE:
        app.sidebar.text_input(key="target").set_value(text).run()
        assert not app.exception
        assert not [error.value for error in app.error if "our side" in error.value]


@pytest.mark.parametrize("page", PAGES)
def test_page_shows_every_model(page: str) -> None:
    app = opened(page)
    for model in app.sidebar.selectbox(key="model").options:
        app.sidebar.selectbox(key="model").set_value(model).run()
        assert not app.exception
        assert not app.error, model
