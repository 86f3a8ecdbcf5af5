"""Write the pages of the API, made from the docstrings of the library: `docs/api/index.html`.

    python -m docs.api

They are not committed. `.ci/run` makes them too, and fails if a module or an annotation cannot be read.
"""

import pkgutil
import warnings
from pathlib import Path

import pdoc

import transformer

# Models of Hugging Face are opened by `Pipeline.open`; what lies below it is imported by nobody else, and takes long to import.
INTERNAL = {"transformer.huggingface"}
FOLDER = Path(__file__).with_suffix("")


def write(folder: Path) -> None:
    """Write the pages into a folder.

    Raises:
        UserWarning: pdoc cannot read a module or an annotation.
    """
    names = {module.name for module in pkgutil.iter_modules(transformer.__path__, "transformer.")} - INTERNAL
    pdoc.render.configure(show_source=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        # `transformer.__all__` names the function `tracing`, which pdoc takes for the folder of the same name.
        warnings.filterwarnings("ignore", "The module specification", UserWarning)
        pdoc.pdoc("transformer", *sorted(names), output_directory=folder)


if __name__ == "__main__":
    write(FOLDER)
