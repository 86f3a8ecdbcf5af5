"""All names that an address of the app can have, so that a link with another name can be told from one that is read.

A name is read only while its part of a page is on the screen, so no run of a page knows all of them. A test finds the names in
the code, another one those that the pages ask for.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches

# Of Streamlit, and of the frames of other sites (docs/EMBED.md).
_FRAME = "embed embed_options figure present language"
# Of the sidebar: the model, its sizes, and the texts.
_SIDEBAR = "model variant n_layers n_heads d_model d_ff source target batch batch_targets"
# Of a lesson and its class; of the page Lessons.
_LESSONS = "lesson lesson_stop answers marked class class_lesson sheet no_pictures notes solutions before after"
# Of several pages.
_SHARED = (
    "part kind layer head item side join edits predict cell numbers search computed suggestions position step measure "
    "b b_target b_answer b_model b_edits"
)
_PAGES = {
    "home": "numbered adjective by_length",
    "tokens": "word",
    "positions": "run first second swap_numbers table vector length width shift dimension waves",
    "masks": "word padding",
    "attention": (
        "query row column all_steps row_numbers lines heads locked threshold combine gradient_of order hide_special "
        "renormalize silenced by_step sentences"
    ),
    "layers": (
        "stop every speed number group work counted along logarithmic sublayer stack call tree configuration differing "
        "numbers_residual numbers_norm lines_norm lines_feed_forward "
        "own_tensor own_item own_part_batch own_part_head own_part_key_head module_layer module_head"
    ),
    "decoding": (
        "method width penalty seed controls temperature top_k top_p min_p draws force node shown shown_layer shown_head against"
    ),
    "training": (
        "snapshot token row column weight earlier pair count_padding own_group own_text own_layer own_head "
        "live_kind live_world live_text live_longest live_layers live_heads live_d_model live_d_ff live_norm live_warmup "
        "live_smoothing live_steps live_seed live_learning_rate live_batch"
    ),
    "patching": "direction metric what tokens steps token through together pairs meaning",
}
NAMES = frozenset(" ".join((_FRAME, _SIDEBAR, _LESSONS, _SHARED, *_PAGES.values())).split())
# Names that other sites add to links, to count visitors.
TRACKING = re.compile(r"utm_\w+|fbclid|gclid|msclkid")
CLOSE = 0.7  # least likeness of a name that is proposed instead, from 0 to 1
LONGEST = 40  # characters of a name that is compared; longer ones are like none


def unknown(names: Iterable[str]) -> dict[str, str]:
    """The names that the app does not have → the name that is most like each; empty if none is like it."""
    return {name: _closest(name) for name in names if name not in NAMES and not TRACKING.fullmatch(name)}


def _closest(name: str) -> str:
    return next(iter(get_close_matches(name.lower(), sorted(NAMES), 1, CLOSE)), "") if len(name) <= LONGEST else ""
