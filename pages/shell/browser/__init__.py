"""Scripts and styles of the frame, which run in the browser."""

from pathlib import Path

BROWSER = Path(__file__).parent
