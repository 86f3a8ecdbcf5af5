"""A filmstrip as one HTML file that works without a server. It has the same miniatures and lines as the page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pages.shell.view.view import View
from pages.ui.offline import offline_page, place

HERE = Path(__file__).parent
BODY = Markup("""<h1>{title}</h1>
<p>{model}: {source}</p>
{strip}
""")


def offline_strip(view: View, title: str, data: Mapping[str, Any]) -> str:
    """The HTML of the file.

    Args:
        view: the view of the sidebar.
        title: the title of the part of the network.
        data: the data of the strip, made by `strip_data`.
    """
    body = BODY.format(title=title, model=view.model, source=view.source, strip=place("strip", HERE / "strip"))
    heading = f"Headlight: {view.model}, {title}"
    return offline_page(heading, body, data, HERE / "offline_strip.js", {"strip": HERE / "strip"})
