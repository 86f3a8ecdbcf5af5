"""The scripts of the pages, which browsers load as native modules from the app's server.

`st.components.v2.component` takes the JavaScript of a component as a text, and sends it again whenever the component's data
change. So the text of our components only imports a script by its address. Streamlit can also serve the folder of a component
(`asset_dir`), but only of an installed package, and each component would then load its own copy of the shared scripts.
"""

import hashlib
import json
from pathlib import Path

from plotly.offline import get_plotlyjs, get_plotlyjs_version

PAGES = Path(__file__).resolve().parents[1]
FOLDER = "headlight/"  # the address of all scripts, relative to that of the app; no page has this name


def name_of(script: Path) -> str:
    """The path of a script, relative to `pages`."""
    return script.resolve().relative_to(PAGES).as_posix()


_FILES = {name_of(file): file.read_bytes() for file in sorted(PAGES.rglob("*.js"))}
# A part of every address. It changes with any script, so a browser may keep the scripts. It is the same for all replicas.
_VERSION = hashlib.blake2b(repr(_FILES).encode(), digest_size=8).hexdigest()
# Address of a script, relative to that of the app → the script.
SCRIPTS = {f"{FOLDER}{_VERSION}/{name}": script for name, script in _FILES.items()}


# Plotly's own script has an address of its own, so that a new version of the app does not load it again.
PLOTLY = f"{FOLDER}plotly-{get_plotlyjs_version()}.js"
SCRIPTS[PLOTLY] = get_plotlyjs().encode()


def address_of(script: Path) -> str:
    """The URL of a script in the folder `pages`, relative to the URL of the app."""
    return f"{FOLDER}{_VERSION}/{name_of(script)}"


def importing(script: Path) -> str:
    """JavaScript for `st.components.v2.component` that imports a script below `pages` and calls its default export.

    A browser loads this text from a `blob:` address, and cannot resolve a relative address against it. So the script's address
    is resolved against the page's address, like the addresses of Streamlit's own scripts. The import is inside the exported
    function, so that a browser that allows it tries a failed import again at the next call. The text has several lines, because
    Streamlit takes a text of one line for the path of a file.
    """
    return f"""export default async (component) => {{
  const address = new URL({json.dumps(address_of(script))}, document.baseURI);
  return (await import(address)).default(component);
}};"""
