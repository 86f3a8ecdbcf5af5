"""Write the pages of the API, made from the docstrings of the library: `docs/api/index.html`.

    python -m docs.api

They are not committed. `.ci/run` makes them too, and fails if a module or an annotation cannot be read.
"""

import importlib.util
import pkgutil
import warnings
from pathlib import Path

import pdoc

import transformer

FOLDER = Path(__file__).with_suffix("")
TEMPLATES = FOLDER.with_name("api_templates")
# Without the optional packages of requirements-huggingface.txt, these modules cannot be imported.
OPTIONAL = set() if importlib.util.find_spec("transformers") else {"transformer.huggingface"}


def write(folder: Path) -> None:
    """Write the pages into a folder.

    Raises:
        UserWarning: pdoc cannot read a module or an annotation.
    """
    names = {module.name for module in pkgutil.iter_modules(transformer.__path__, "transformer.")} - OPTIONAL
    pdoc.render.configure(docformat="google", show_source=False, template_directory=TEMPLATES)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        # `transformer.__all__` names the function `tracing`, which pdoc takes for the folder of the same name.
        warnings.filterwarnings("ignore", "The module specification", UserWarning)
        pdoc.pdoc("transformer", *sorted(names), output_directory=folder)


if __name__ == "__main__":
    write(FOLDER)
