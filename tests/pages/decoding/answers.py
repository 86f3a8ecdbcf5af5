"""The data of the player of answers, and links to its page."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest

from transformer import Pipeline
from transformer.pipeline.decoding.logits_processors import LogitsProcessor, MinP, Temperature, TopK, TopP
from transformer.pipeline.decoding.methods import Beam, Greedy, Method, Sample
from transformer.tasks import find_task


def player(app: AppTest) -> dict[str, Any]:
    """The data of the player."""
    found = [json.loads(each.proto.json) for each in app.main.get("bidi_component") if each.proto.json]
    (data,) = [data for data in found if isinstance(data, dict) and "steps" in data]
    return data | {"steps": json.loads(data["steps"])}


def example(model: str) -> str:
    return find_task(Pipeline.load(model).card.task).examples[0].source


CHOICES: list[tuple[dict[str, str], Method, tuple[LogitsProcessor, ...]]] = [
    ({}, Greedy(), ()),
    (
        {"method": "sampling", "seed": "7", "controls": "temperature", "temperature": "2.5"},
        Sample(7),
        (Temperature(2.5),),
    ),
    (
        {"method": "sampling", "controls": "top-p,temperature", "temperature": "2", "top_p": "0.95"},
        Sample(1),
        (TopP(0.95), Temperature(2.0)),
    ),
    (
        {"method": "sampling", "controls": "temperature,top-k,min-p", "temperature": "3", "top_k": "7", "min_p": "0.2"},
        Sample(1),
        (Temperature(3.0), TopK(7), MinP(0.2)),
    ),
    ({"method": "beam", "width": "3", "penalty": "0.5"}, Beam(3, 0.5), ()),
]
