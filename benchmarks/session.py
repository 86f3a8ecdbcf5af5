"""A visitor without a browser: one session of a Streamlit server, over the same websocket that a browser uses.

The messages are Streamlit's own (`streamlit.proto`). They are not a public interface, so this module only fits the version that
`requirements.txt` pins. The drawing in a browser is not part of any time measured here.
"""

import hashlib
import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.shell.frame.parts import WATCH

# Element of the page → the field of `WidgetState` that holds its value.
VALUE_FIELDS = {
    "selectbox": "string_value",
    "radio": "string_value",
    "text_input": "string_value",
    "text_area": "string_value",
    "checkbox": "bool_value",
    "number_input": "double_value",
    "button": "trigger_value",
    "button_group": "string_array_value",
    "multiselect": "string_array_value",
    "slider": "double_array_value",
}
# Streamlit's name for the trigger values that the script of a component sends, made from the id of the component.
TRIGGERS = "$$STREAMLIT_INTERNAL_KEY_{}__events"
FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
SECONDS_ALLOWED = 60.0


class Address(Protocol):
    """The destination of sessions: a server, or a proxy in front of several."""

    @property
    def address(self) -> str: ...


class At(NamedTuple):
    """A server for a `Session`, given only by its address."""

    address: str


class PageError(Exception):
    """The page showed an exception, or its script did not finish."""


class Reply(NamedTuple):
    """The server's answer to one click.

    Attributes:
        seconds: time from the request until the script had finished.
        received: bytes of all messages in this time, uncompressed.
    """

    seconds: float
    received: int


class Element(NamedTuple):
    """One element of a page.

    Attributes:
        kind: the name of its type in Streamlit's protocol.
        content: a hash of everything that the element shows. For a widget (its value is in the browser), a download button and
            two components (`_receive`), the element's id instead.
        text: the text of a heading, a paragraph or HTML; else empty.
    """

    kind: str
    content: str
    text: str = ""


@dataclass
class Session:
    """One visitor. Open it with `open`, click with `click`, end with `close`.

    Attributes:
        widgets: key → (id, kind of element) of each widget that the page has shown so far.
        choices: key → options of each picker.
        fragments: key → the fragment that contains the widget, for widgets in a fragment.
        parameters: key → the URL parameter that the widget is bound to, for bound widgets; a click writes it into `query`.
        elements: place on the page → element, for all elements that the browser shows.
        sent: place on the page → element, for the elements of the last run. A run of fragments sends only the elements of these
            fragments.
        unseen: names of the parts of the page that are drawn when they are scrolled to (pages/shell/frame/parts.py).
        stored: key → the text that a tab of the browser would store (pages/ui/tab_memory.py).
        cookie: the cookie that a proxy in front of the server gave the visitor; it is sent back.
    """

    server: Address
    page: str
    query: dict[str, str]
    widgets: dict[str, tuple[str, str]] = field(default_factory=dict)
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fragments: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    elements: dict[tuple[int, ...], Element] = field(default_factory=dict)
    sent: dict[tuple[int, ...], Element] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    stored: dict[str, str] = field(default_factory=dict)
    cookie: str = ""
    _values: dict[str, Any] = field(default_factory=dict)
    _known: dict[str, Element | None] = field(default_factory=dict)  # hash → element, of messages that are not sent again
    _page_hash: str = ""
    _socket: Any = None

    @property
    def texts(self) -> list[str]:
        """Headings, paragraphs and HTML that the browser shows, from the top of the page to its end."""
        return [element.text for _, element in sorted(self.elements.items()) if element.text]

    async def open(self) -> Reply:
        """Connect and run the page for the first time. Raises `PageError`."""
        start = time.perf_counter()
        self._page_hash, self._known = "", {}
        self._socket = await websockets.connect(
            self.server.address.replace("http", "ws", 1) + "/_stcore/stream",
            subprotocols=[websockets.Subprotocol("streamlit")],
            origin=websockets.Origin(self.server.address),
            max_size=None,
            ping_interval=None,
            open_timeout=SECONDS_ALLOWED,
            additional_headers={"Cookie": self.cookie} if self.cookie else None,
            compression=None,  # unpacking would cost the client time; a browser does it in native code
        )
        return await self._run(start)

    async def click(self, **values: Any) -> Reply:
        """Set the values of widgets, by their keys, and wait until the page has run. Raises `PageError`."""
        self._values |= values
        self.query |= {self.parameters[key]: str(value) for key, value in values.items() if key in self.parameters}
        return await self._run(time.perf_counter(), next(iter(values), None))

    async def rerun(self) -> Reply:
        """Run the whole page again without a change. Raises `PageError`."""
        return await self._run(time.perf_counter())

    async def scroll(self) -> Reply:
        """Scroll to the end of the page, so that the parts that are not drawn yet are drawn. Raises `PageError`."""
        return await self.send(WATCH, "seen", self.unseen)

    async def send(self, key: str, event: str, value: Any) -> Reply:
        """Report an event with a value, as the script of the component with this key does. Raises `PageError`."""
        return await self._run(time.perf_counter(), triggers={self.widgets[key][0]: [{"event": event, "value": value}]})

    async def go(self, page: str) -> Reply:
        """Open another page of the navigation in the same session. Raises `PageError`."""
        self.page, self._page_hash = page, ""
        self.query = {name: value for name, value in self.query.items() if name in SIDEBAR}
        for of_page in (self.widgets, self.choices, self.fragments, self.parameters, self._values):
            for key in [key for key in of_page if key not in SIDEBAR]:
                del of_page[key]
        return await self._run(time.perf_counter())

    async def closed(self) -> None:
        """Wait until either side has closed the connection."""
        await self._socket.wait_closed()

    async def close(self) -> None:
        if self._socket is not None:
            await self._socket.close()

    async def _run(
        self, start: float, clicked: str | None = None, triggers: Mapping[str, Sequence[dict[str, Any]]] | None = None
    ) -> Reply:
        """Send a request and read the answer to its end.

        Args:
            start: time of the click, from `time.perf_counter`.
            clicked: the key of the clicked widget.
            triggers: id of a component → events that its script reports.
        """
        request = self._request(clicked)
        for widget_id, events in (triggers or {}).items():
            widget = request.rerun_script.widget_states.widgets.add()
            widget.id, widget.json_trigger_value = TRIGGERS.format(widget_id), json.dumps(events)
        await self._socket.send(request.SerializeToString())
        received, started, failure = 0, False, ""
        self.sent, self.unseen = {}, ()
        fragments, redrawn = set[str](), dict[str, tuple[int, ...]]()  # fragments of the run; fragment → place
        while True:
            raw = await self._socket.recv()
            received += len(raw)
            message = ForwardMsg.FromString(raw)
            match message.WhichOneof("type"):
                case "new_session":
                    started = True
                    self._page_hash = message.new_session.page_script_hash or self._page_hash
                    fragments = set(message.metadata.run.fragment_ids)
                case "navigation":
                    self._page_hash = message.navigation.page_script_hash or self._page_hash
                case "page_info_changed":
                    self._change_address(message.page_info_changed.query_string)
                case "delta":
                    if message.delta.fragment_id in fragments:
                        # The first message of a fragment draws its container.
                        redrawn.setdefault(message.delta.fragment_id, tuple(message.metadata.delta_path))
                    failure = self._receive(message) or failure
                case "ref_hash" if element := self._known.get(message.ref_hash):
                    self.sent[tuple(message.metadata.delta_path)] = element
                case "script_finished" if started:
                    if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                        started = False
                        continue
                    self._replace(redrawn.values() if fragments else [()])
                    if failure or message.script_finished not in FINISHED:
                        raise PageError(failure or ForwardMsg.ScriptFinishedStatus.Name(message.script_finished))
                    return Reply(time.perf_counter() - start, received)
                case _:
                    pass  # no other message changes the elements or the address

    def _request(self, clicked: str | None) -> BackMsg:
        message = BackMsg()
        state: ClientState = message.rerun_script
        state.query_string = urlencode(self.query)
        state.context_info.timezone, state.context_info.locale = "Europe/Berlin", "en"
        state.cached_message_hashes.extend(self._known)
        if self._page_hash:
            state.page_script_hash = self._page_hash
        else:
            state.page_name = self.page
        if clicked in self.fragments:
            state.fragment_id = self.fragments[clicked]
        for key, value in list(self._values.items()):
            if key not in self.widgets:
                continue
            widget_id, kind = self.widgets[key]
            widget = state.widget_states.widgets.add()
            widget.id = widget_id
            name = VALUE_FIELDS[kind]
            if name.endswith("array_value"):
                getattr(widget, name).data.append(value)
            else:
                setattr(widget, name, value)
            if kind == "button":
                del self._values[key]
        return message

    def _replace(self, places: Collection[tuple[int, ...]]) -> None:
        """Replace all elements within these places by the elements that were sent."""
        kept = {
            place: element
            for place, element in self.elements.items()
            if not any(place[: len(redrawn)] == redrawn for redrawn in places)
        }
        self.elements = kept | self.sent

    def _change_address(self, query: str) -> None:
        """Set `query` to the parameters that the app has written. Those of the sidebar and of bound widgets stay, because the
        browser itself keeps them."""
        own = {name: value for name, value in self.query.items() if name in SIDEBAR or name in self.parameters.values()}
        self.query = own | dict(parse_qsl(query, keep_blank_values=True))

    def _receive(self, message: ForwardMsg) -> str:
        """Store the data of an element. Returns the exception's type and message if the element is an exception, else an empty
        text."""
        if message.metadata.cacheable and message.hash:
            self._known[message.hash] = None
        if message.delta.WhichOneof("type") != "new_element":
            return ""
        kind = message.delta.new_element.WhichOneof("type") or ""
        element: Any = getattr(message.delta.new_element, kind, None)
        if element is None:
            return ""
        # These differ from session to session: the number of the file in a download button, the number of choices in one
        # component (history.py), and the name of the session in another (tab_memory.py).
        own = getattr(element, "component_name", "") in ("headlight_choice", "headlight_tab_memory")
        counts = kind == "download_button" or own
        whole = kind not in VALUE_FIELDS and not counts
        content = hashlib.blake2b(element.SerializeToString()).hexdigest() if whole else element.id
        shown = Element(kind, content, element.body if kind in ("markdown", "heading", "html") else "")
        self.sent[tuple(message.metadata.delta_path)] = shown
        if message.hash in self._known:
            self._known[message.hash] = shown
        if kind == "exception":
            return f"{element.type}: {element.message}"
        widget_id = getattr(element, "id", "")
        if isinstance(widget_id, str) and widget_id.startswith("$$"):
            key = widget_id.split("-", 2)[2]
            name = key if key != "None" else widget_id
            self.widgets[name] = (widget_id, kind)
            if name == WATCH:
                self.unseen = tuple(json.loads(element.json))
            if getattr(element, "component_name", "") == "headlight_tab_memory":
                self.stored[name] = json.loads(element.json)["text"]
            if parameter := getattr(element, "query_param_key", ""):
                self.parameters[name] = parameter
            if kind == "button_group":
                self.choices[name] = tuple(option.content for option in element.options)
            elif kind in ("selectbox", "radio"):
                self.choices[name] = tuple(element.options)
            if message.delta.fragment_id:
                self.fragments[name] = message.delta.fragment_id
        return ""


# Keys of the sidebar, whose values are kept when the page changes.
SIDEBAR = ("model", "source", "target", "batch", "batch_targets")
