"""A visitor without a browser: one session of a Streamlit server, over the same websocket that a browser uses.

The messages are Streamlit's own (`streamlit.proto`). They are no public interface, so this is written for the version that
`requirements.txt` pins. What a browser does with the answer (drawing) is not part of any time measured here.
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

from pages.shell.parts import WATCH

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
# What Streamlit puts around the id of a component to name the trigger values that its script sends.
TRIGGERS = "$$STREAMLIT_INTERNAL_KEY_{}__events"
FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
SECONDS_ALLOWED = 60.0


class Address(Protocol):
    """Where sessions go: a server, or a proxy in front of several."""

    @property
    def address(self) -> str: ...


class PageError(Exception):
    """The page showed an exception, or its script did not come to its end."""


class Reply(NamedTuple):
    """The server's answer to one click.

    Attributes:
        seconds: from the request until the script had finished.
        received: bytes of all messages in between, uncompressed.
    """

    seconds: float
    received: int


class Element(NamedTuple):
    """One element of a page.

    Attributes:
        kind: its name in Streamlit's protocol.
        content: a hash of all it shows; the id of a widget, whose value is the browser's, and of a download.
        text: of a heading, a paragraph or HTML.
    """

    kind: str
    content: str
    text: str = ""


@dataclass
class Session:
    """One visitor. Open it with `open`, click with `click`, end with `close`.

    Attributes:
        widgets: key → (id, kind of element), of the widgets that the page has shown so far.
        choices: key → what can be chosen, of pickers.
        fragments: key → the fragment that the widget is in, for those in one.
        parameters: key → the URL parameter that the widget is bound to, for those that are; a click writes it into `query`.
        elements: place on the page → element, of all that the browser shows.
        sent: the same, of the last run alone: a run of fragments leaves the rest of the page as it is.
        unseen: names of the parts of the page that wait to be scrolled to (pages/shell/parts.py).
        cookie: what a proxy in front of the server gave the visitor, to be sent back.
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
    cookie: str = ""
    _values: dict[str, Any] = field(default_factory=dict)
    _known: dict[str, Element | None] = field(default_factory=dict)  # by their hashes, messages that need not be sent again
    _page_hash: str = ""
    _socket: Any = None

    @property
    def texts(self) -> list[str]:
        """Headings, paragraphs and HTML of the last run, from the top of the page to its end."""
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
            compression=None,  # packing costs the client; a browser does it in native code
        )
        return await self._run(start)

    async def click(self, **values: Any) -> Reply:
        """Give widgets, by their keys, other values, and wait until the page has been run. Raises `PageError`."""
        self._values |= values
        self.query |= {self.parameters[key]: str(value) for key, value in values.items() if key in self.parameters}
        return await self._run(time.perf_counter(), next(iter(values), None))

    async def rerun(self) -> Reply:
        """Run the whole page again with nothing changed. Raises `PageError`."""
        return await self._run(time.perf_counter())

    async def scroll(self) -> Reply:
        """Scroll to the end of the page, as far as it is drawn: its parts come on screen and are drawn. Raises `PageError`."""
        return await self.send(WATCH, "seen", self.unseen)

    async def send(self, key: str, event: str, value: Any) -> Reply:
        """Let the script of a component, by its key, report an event with a value. Raises `PageError`."""
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
        """Wait until the connection is closed, by either side."""
        await self._socket.wait_closed()

    async def close(self) -> None:
        if self._socket is not None:
            await self._socket.close()

    async def _run(
        self, start: float, clicked: str | None = None, triggers: Mapping[str, Sequence[dict[str, Any]]] | None = None
    ) -> Reply:
        """Send a request and read the answer to its end.

        Args:
            start: when the person clicked, of `time.perf_counter`.
            clicked: the key of the clicked widget.
            triggers: id of a component → what its script reports.
        """
        request = self._request(clicked)
        for widget_id, events in (triggers or {}).items():
            widget = request.rerun_script.widget_states.widgets.add()
            widget.id, widget.json_trigger_value = TRIGGERS.format(widget_id), json.dumps(events)
        await self._socket.send(request.SerializeToString())
        received, started, failure = 0, False, ""
        self.sent, self.unseen = {}, ()
        fragments, redrawn = set[str](), dict[str, tuple[int, ...]]()  # the fragments of the run, and the place of each
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
                        # First comes the container of the fragment.
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
        """Put what was sent in the place of what was shown within some places."""
        kept = {
            place: element
            for place, element in self.elements.items()
            if not any(place[: len(redrawn)] == redrawn for redrawn in places)
        }
        self.elements = kept | self.sent

    def _change_address(self, query: str) -> None:
        """Take the parameters that the app has written; those of bound widgets are the browser's own."""
        own = {name: value for name, value in self.query.items() if name in SIDEBAR or name in self.parameters.values()}
        self.query = own | dict(parse_qsl(query, keep_blank_values=True))

    def _receive(self, message: ForwardMsg) -> str:
        """Note what an element says of itself; return what is wrong if it is an exception."""
        if message.metadata.cacheable and message.hash:
            self._known[message.hash] = None
        if message.delta.WhichOneof("type") != "new_element":
            return ""
        kind = message.delta.new_element.WhichOneof("type") or ""
        element: Any = getattr(message.delta.new_element, kind, None)
        if element is None:
            return ""
        # The rest of a download button is the number of a file that this run would make.
        whole = kind not in VALUE_FIELDS and kind != "download_button"
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
            if parameter := getattr(element, "query_param_key", ""):
                self.parameters[name] = parameter
            if kind == "button_group":
                self.choices[name] = tuple(option.content for option in element.options)
            elif kind in ("selectbox", "radio"):
                self.choices[name] = tuple(element.options)
            if message.delta.fragment_id:
                self.fragments[name] = message.delta.fragment_id
        return ""


# Keys of the sidebar, whose values outlive a change of page.
SIDEBAR = ("model", "source", "target", "batch", "batch_targets")
