"""The folder with the checkpoints, texts, lessons and styles of the project."""

from pathlib import Path

TOP = Path(__file__).parents[1]  # the repository, or `site-packages`
INSTALLED = TOP / "headlight" / "assets"


def is_installed() -> bool:
    """Whether this package comes from a wheel, and not from the repository."""
    return INSTALLED.is_dir()


def assets() -> Path:
    """The path of the folder with the checkpoints, texts, lessons and styles. In the repository, the folder is at the top. In a
    wheel, it is in the package `headlight`, because a folder `assets` at the top could shadow a module of another package."""
    return INSTALLED if is_installed() else TOP / "assets"
