"""Figures as they are sent to a browser, read back from their JSON."""

import base64
import json
from typing import Any

import numpy as np


def sent(figure: Any) -> dict[str, Any]:
    return json.loads(figure.to_json())


def array(values: dict[str, str]) -> np.ndarray:
    flat = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return flat.reshape([int(size) for size in str(values.get("shape", flat.size)).split(",")])
