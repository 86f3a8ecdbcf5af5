"""Every shape annotation of the library is checked in the tests; the hook has to come before the first import.

The worlds are left out: they are plain Python without shapes, drawn from a hundred thousand times, and ten times slower so.
"""

from pathlib import Path

from jaxtyping import install_import_hook

LIBRARY = Path(__file__).parents[1] / "transformer"

install_import_hook([f"transformer.{path.stem}" for path in LIBRARY.iterdir() if path.stem != "worlds"], "beartype.beartype")
