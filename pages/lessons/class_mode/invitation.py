"""How students join a class: a QR code, the address and the code, or a warning that phones cannot reach the address."""

import socket
from pathlib import Path
from urllib.parse import urlsplit

import segno
import streamlit as st
from markupsafe import Markup

from pages.lessons.class_mode.seat import CLASS, Seat, memory_name
from pages.lessons.content.app_address import app_address, is_local
from pages.ui.caches import cached
from pages.ui.escaping import literal
from pages.ui.style import style
from pages.ui.text import text

PORT = 8501  # Streamlit's default, for an address without a port
LONGEST = 500  # limit of characters of an address in a QR code; a longer one makes dots too small for a phone
# A private address (RFC 1918). Connecting a UDP socket to it reveals this machine's own address. No packet is sent.
ELSEWHERE = ("10.255.255.255", 1)
# The values of Streamlit's setting `server.address` with which it answers other computers.
EVERYWHERE = (None, "", "0.0.0.0", "::")

_STYLE = style(Path(__file__).with_suffix(".css"))


def show_code(place: Seat) -> None:
    """Draw what students need to join a class, large enough for the last row of a room: the QR code of its URL, and below it
    the URL and the code as text. If phones cannot reach the URL, draw instead what to do."""
    st.html(_STYLE)
    if warn_local():
        return
    words, address = text("lesson")["class"], join_address(place)
    picture = Markup("")
    if len(address) <= LONGEST:
        alternative = words["qr_alt"].format(address=address)
        picture = Markup('<img alt="{}" src="{}">').format(alternative, qr_picture(address))
    short = address.partition("://")[2]
    page = Markup("<p>{}</p>").format(words["qr_or"])
    st.html(
        Markup('<div class="class-join">{}<p class="address">{}</p>{}<p class="code">{}</p></div>').format(
            picture, short, page, place.code
        )
    )


def show_teacher_link(place: Seat) -> None:
    """Draw the link with which another browser opens the class as its teacher. Students must not see it."""
    words = text("lesson")["class"]
    st.markdown(words["teacher_text"])
    st.code(f"{join_address(place)}#{memory_name(place.code)}={place.secret}", None, wrap_lines=True)


def warn_local(short: bool = False) -> bool:
    """If only this machine can reach the app's URL, draw a warning that says what to do; if `short`, only a line that refers to
    it. Returns whether only this machine can reach the URL."""
    address = app_address()
    if not is_local(address):
        return False
    words, port = text("lesson")["class"], urlsplit(address).port or PORT
    if short:
        st.caption(words["local_short"])
        return True
    own = own_address()
    instead = words["local_own" if own else "local_unknown"].format(address=f"http://{own or '…'}:{port}")
    start = words["local_here" if st.get_option("server.address") in EVERYWHERE else "local_start"]
    st.warning(words["local"].format(address=literal(address), start=start, instead=instead), icon=":material/wifi_off:")
    return True


@cached
def qr_picture(address: str) -> str:
    """The QR code of a URL as a `data:` URI. It is black on white in every theme, with the border that QR readers need."""
    return segno.make(address, error="m", micro=False).svg_data_uri(border=4, dark="#000", light="#fff", omitsize=True)


def join_address(place: Seat) -> str:
    """The URL with which students join a class."""
    return f"{app_address()}/?{CLASS}={place.code}"


def own_address() -> str:
    """The IP address of this machine in its network; empty without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(ELSEWHERE)
            own = str(asking.getsockname()[0])
        except OSError:
            return ""
    return "" if is_local(f"http://{own}") else own
