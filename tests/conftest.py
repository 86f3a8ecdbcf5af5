"""Check every shape annotation of the library in the tests. The hook must be installed before the first import.

The worlds are left out: they have no shapes, are drawn from a hundred thousand times, and would be ten times slower.
"""

from pathlib import Path

from jaxtyping import install_import_hook

LIBRARY = Path(__file__).parents[1] / "transformer"

install_import_hook([f"transformer.{path.stem}" for path in LIBRARY.iterdir() if path.stem != "worlds"], "beartype.beartype")
