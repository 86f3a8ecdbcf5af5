"""Hostile values that a visitor, a broken link or an attacker may send."""

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

# By default, only a quick part runs, always with the same values. HEADLIGHT_FUZZ=10000 draws 10000 new cases in all.
QUICK = "HEADLIGHT_FUZZ" not in os.environ
CASES = 120 if QUICK else int(os.environ["HEADLIGHT_FUZZ"])

MARKUP = [
    "<script>window.__hit = 1</script>",
    "<img src=x onerror='window.__hit = 1'>",
    "<svg/onload=window.__hit=1>",
    "<iframe src='javascript:parent.__hit=1'></iframe>",
    "<a href='javascript:window.__hit=1'>x</a>",
    "<style>*{display:none}</style>",
    "</textarea></title></style></script><b>x",
    "<!-- <math><mtext></mtext><mglyph><style></math><img src onerror=window.__hit=1>",
    "&lt;img src=x onerror=window.__hit=1&gt;",
    "&#60;script&#62;",
    "[x](javascript:window.__hit=1)",
    "[x](http://elsewhere.example/)",
    "![x](http://elsewhere.example/x.png)",
    "<http://elsewhere.example>",
    "http://elsewhere.example/x.png",
    "[x]: http://elsewhere.example\n\n![x]",
    "**bold** _x_ ~~y~~ `z`",
    "# heading",
    "- list\n- list",
    "| a | b |\n|---|---|\n| c | d |",
    "```\ncode",
    "$\\href{javascript:window.__hit=1}{x}$",
    "$$\\includegraphics{http://elsewhere.example/x.png}$$",
    "$\\frac{1}{",
    ":material/home:",
    ":material/x:",
    ":red[:blue[x",
    ":red-background[x]",
    ":small[x]",
    ":badge[x]",
    ":smile:",
    ":streamlit:",
    ":shortcode[x]{y}",
    "%3Cscript%3E",
    "{{7*7}}",
    "{0.__class__}",
    "{count}",
    "%(x)s %s %n",
    "${x}",
    "'; DROP TABLE x; --",
    "a'b\"c`d\\e",
    "\\",
    "](",
]
NUMBERS = [
    *("-1", "0", "00", "01", "+1", "1.5", "-0.0", "1e3", "1e308", "1e999", "-1e999", "nan", "NaN", "inf", "-inf", "Infinity"),
    *(
        "0x10",
        "0b1",
        "1_000",
        "1,000",
        "1 000",
        " 1 ",
        "1\n",
        "٣",
        "²",
        "½",
        "Ⅳ",
        "๓",
        "9" * 20,
        "9" * 400,
        "-" + "9" * 20,
        "2147483648",
    ),
    *("9223372036854775808", "1e-400", "--1", "0.0001", "0.12345", "1;2", "[1, 2]", "None", "True", "undefined"),
]
CHARACTERS = [
    *(
        "\x00",
        "\x1b[31m",
        "\x7f",
        "\x85",
        "\r\n",
        "\n\n\n",
        "\t",
        "\u2028",
        "\u202e",
        "\u202eabc\u202c",
        "\u2066x\u2069",
        "\u200b",
    ),
    *(
        "\ufeff",
        "\ufffd",
        "\ufffe",
        "\U000e0041",
        "\U0010ffff",
        "e" + "\u0301" * 30,
        "\u0301",
        "👩‍👩‍👧‍👦",
        "🙂" * 20,
        "ﷺ",
        "İ",
        "ß",
        "ǅ",
        "\u1e9e",
    ),
    *("مرحبا", "हिन्दी", "漢字", "한국어", "\u3164", "\u2800", "\xa0", "\u0085x"),
]
LONG = [
    "x" * 1_001,
    "a " * 600,
    "1 " * 500,
    "<b>" * 400,
    "`" * 800,
    "[" * 900,
    "\u202e" * 700,
    "é" * 999,
    "x\n" * 400,
    ":red[" * 150,
]
EMPTY = ["", " ", "   ", "\n", ","]
# Words from the values that pages write into an address. Variations of these pass more checks, so they reach more code.
WORDS = [
    *("true", "false", "all", "source", "target", "encoder", "decoder", "cross", "layer", "entropy", "mean", "flops", "en"),
    *("s0", "t0", "s1,t2", "1.1", "1,1", "0.5", "encoder.layers.0", "encoder.layers.0.self_attention.weights", "logits"),
    *("decoder.layers.0.cross_attention.scores", "encoder.layers.99.self_attention.weights", "0,0", "cat", "a", "the"),
]
# Halves of surrogate pairs. A Python string can contain them, but no protocol can send them.
SURROGATES = ["\ud800", "a\udfffb", "\udc00\ud800", "\udce9"]

texts = st.one_of(
    st.sampled_from(MARKUP),
    st.sampled_from(NUMBERS),
    st.sampled_from(CHARACTERS),
    st.sampled_from(LONG),
    st.sampled_from(EMPTY),
    st.sampled_from(WORDS),
    st.text(max_size=40),
    st.lists(st.sampled_from([*MARKUP, *NUMBERS, *CHARACTERS, *WORDS]), min_size=2, max_size=4).map(" ".join),
)
# Strings of Python, which can contain characters that a text from the network cannot contain.
any_texts = st.one_of(texts, st.sampled_from(SURROGATES), st.text(st.characters(), max_size=30))


def try_cases(share: float, check: Callable[..., None], *values: st.SearchStrategy[Any]) -> None:
    """Call a check with values drawn from the strategies. The number of calls is `share` times the number of all cases."""
    most = max(1, round(CASES * share))
    count = 0

    @settings(
        max_examples=most,
        deadline=None,
        derandomize=QUICK,
        database=None,
        # Shrinking a failing case takes hundreds of runs of a page, so it is done only in the long version.
        phases=[Phase.generate] if QUICK else [Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        print_blob=not QUICK,
    )
    @given(st.tuples(*values))
    def one_case(drawn: tuple[Any, ...]) -> None:
        nonlocal count
        count += 1
        check(*drawn)

    one_case()
    assert count >= most
