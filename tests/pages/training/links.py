"""Links to the page Training that train for a few seconds."""

# The query of a model without a recorded training, because a recorded training would be computed first.
SHORT = {"model": "copy", "source": "abc", "part": "live"}
TINY = {
    **SHORT,
    "live_d_model": "16",
    "live_heads": "2",
    "live_layers": "1",
    "live_d_ff": "32",
    "live_batch": "8",
    "live_steps": "40",
    "live_longest": "4",
    "live_text": "abc",
}
