"""Names of the two linear layers of `FeedForward` in files and links that are older than their present names."""

FORMER = {"feed_forward.up_projection": "feed_forward.expand", "feed_forward.down_projection": "feed_forward.contract"}


def present_name(name: str) -> str:
    """The name of a parameter or a module in the network, for its name in the file of a shipped model or in a link."""
    for present, former in FORMER.items():
        name = name.replace(former, present)
    return name


def former_name(name: str) -> str:
    """The inverse of `present_name`."""
    for present, former in FORMER.items():
        name = name.replace(present, former)
    return name
