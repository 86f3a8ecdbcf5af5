"""Former names of the two linear layers of `FeedForward`, which shipped model files and old URLs of the app use."""

FORMER = {"feed_forward.up_projection": "feed_forward.expand", "feed_forward.down_projection": "feed_forward.contract"}


def present_name(name: str) -> str:
    """The present name of a parameter or module, from its former or present name in a shipped model's file or in a URL."""
    for present, former in FORMER.items():
        name = name.replace(former, present)
    return name


def former_name(name: str) -> str:
    """The former name of a parameter or module, which shipped model files and old URLs use, from its present name."""
    for present, former in FORMER.items():
        name = name.replace(present, former)
    return name
