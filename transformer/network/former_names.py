"""Names of the two linear layers of `FeedForward` in files and links that are older than their present names."""

FORMER = {"feed_forward.up_projection": "feed_forward.expand", "feed_forward.down_projection": "feed_forward.contract"}


def present_name(name: str) -> str:
    """The present name of a parameter or module, given its name in a shipped model's file or in a link, which may be older."""
    for present, former in FORMER.items():
        name = name.replace(former, present)
    return name


def former_name(name: str) -> str:
    """The name of a parameter or module in a shipped model's file or in a link, given its present name."""
    for present, former in FORMER.items():
        name = name.replace(present, former)
    return name
