"""The URL of the app, for other people to open."""

import ipaddress
from urllib.parse import urlsplit

import streamlit as st


def app_address() -> str:
    """The URL of the app, without the name of a page, parameters or a slash at the end."""
    address = (st.context.url or "").partition("?")[0].removesuffix("/")
    return address.removesuffix(f"/{st.session_state['page']}").removesuffix("/")


def is_local(address: str) -> bool:
    """Whether a URL leads to the machine that opens it (localhost), so that a phone cannot reach the app with it."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:  # not an address
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:  # a name
        return False
    return number.is_loopback or number.is_unspecified
