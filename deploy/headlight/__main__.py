"""The command `headlight`: start the app, and open it in the browser.

It imports nothing but the standard library before Streamlit runs, so that `app.py` still decides how torch is loaded.
"""

import argparse
import errno
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

FOLDER = Path(__file__).parent
PORT = "8501"
MODELS = "HEADLIGHT_MODELS"  # read by pages/shell/models/folders.py
# Other variables that hold a path, which can be relative to the current folder.
PATHS = ("HEADLIGHT_HUB_FOLDER", "STREAMLIT_SERVER_SSL_CERT_FILE", "STREAMLIT_SERVER_SSL_KEY_FILE")
SETTING = "HEADLIGHT_"  # the first word of the error about a variable (transformer/environment.py)


def app_script() -> Path:
    """The script of the app: in this folder in an installed wheel, at the top of the repository otherwise."""
    installed = FOLDER / "app.py"
    return installed if installed.exists() else FOLDER.parents[1] / "app.py"


def port_number(text: str) -> int:
    """A port, read from the command line.

    Raises:
        argparse.ArgumentTypeError: the text is not a port.
    """
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port; allowed are 1 to 65535")


def model_folders(text: str) -> str:
    """One or more folders, read from the command line.

    Raises:
        argparse.ArgumentTypeError: one of the folders does not exist.
    """
    for folder in filter(None, text.split(os.pathsep)):
        if not Path(folder).is_dir():
            raise argparse.ArgumentTypeError(f"there is no folder {folder!r}")
    return text


def port_problem(port: int, name: str) -> str:
    """Why the app cannot use a port, as a sentence; empty if it can.

    The port must be free at every address of the app's name: a browser can take another one than the app. With an empty name,
    the app has all addresses of the computer."""
    problems: list[str] = []
    try:
        places = socket.getaddrinfo(name or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        return f"The address {name} cannot be used: {error.strerror}."
    for family, _, _, _, place in places:
        try:
            socket.create_server(place, family=family).close()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                other = port % 65535 + 1
                return f"Port {port} is taken by another program; choose another one, for example: headlight --port {other}"
            problems.append(f"Port {port} cannot be used: {error.strerror}.")
    return problems[0] if len(problems) == len(places) else ""  # a computer can lack IPv4 or IPv6


def enter_app_folder() -> None:
    """Make the app's folder the current one, after making the paths in environment variables absolute.

    Streamlit also reads `.streamlit/config.toml` of the current folder. In the folder of another project, that file would set
    what the app's own file leaves open, such as the path of the address or the theme.
    """
    for name in PATHS:
        if os.environ.get(name):
            os.environ[name] = os.path.abspath(os.environ[name])
    if folders := os.environ.get(MODELS):
        os.environ[MODELS] = os.pathsep.join(os.path.abspath(each) for each in folders.split(os.pathsep) if each)
    os.chdir(app_script().parent)


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="headlight",
        description="Open a Transformer and look at every tensor in it. Starts the app on this computer and opens it in the "
        "browser; Ctrl-C ends it.",
    )
    parser.add_argument(
        "--port",
        type=port_number,
        default=os.environ.get("STREAMLIT_SERVER_PORT", PORT),
        help=f"the number at the end of the app's address, http://localhost:{PORT}; another one lets two apps run at once",
    )
    parser.add_argument(
        "--models",
        type=model_folders,
        metavar="FOLDER",
        default=os.environ.get(MODELS),
        help="a folder with a model of Hugging Face, or a folder of such folders: the app offers them beside its own models; "
        f"several are separated by {os.pathsep!r}",
    )
    parser.add_argument("--version", action="store_true", help="print the version, and do not start")
    return parser


def stop(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    """End the program at once, without an error, as the handler of Ctrl-C.

    This handler raises no exception: Python would drop an exception raised in the callback of a weak reference, and such
    callbacks run often during the imports. While Streamlit's server runs, it handles Ctrl-C itself, and calls this handler
    after it has closed.
    """
    os.write(sys.stdout.fileno(), b"\nheadlight has stopped.\n")
    os._exit(0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command. It ends when the app ends; after Ctrl-C the program ends with the exit status 0 (`stop`).

    Raises:
        SystemExit: with the exit status: 2 and a message if an option is wrong; 1 and a message if the port cannot be used, or
            an environment variable is wrong.
    """
    line = parser()
    options = line.parse_args(arguments)
    if options.version:
        from transformer import __version__

        print(f"headlight {__version__}")
        return
    if problem := port_problem(options.port, os.environ.get("STREAMLIT_SERVER_ADDRESS", "")):
        sys.exit(f"headlight: {problem}")
    if options.models:
        os.environ[MODELS] = options.models
    enter_app_folder()
    # Streamlit asks for an e-mail address at its first start, and waits for it.
    settings = [f"--server.port={options.port}", "--server.showEmailPrompt=false"]
    signal.signal(signal.SIGINT, stop)
    from streamlit.web.cli import main as streamlit

    try:
        streamlit(["run", str(app_script()), *settings], prog_name="streamlit", standalone_mode=False)
    except ValueError as error:
        if str(error).startswith(SETTING):
            sys.exit(f"headlight: {error}")
        raise


def check_codes() -> NoReturn:
    """The command `headlight-check-codes`, which checks the hand-in codes of a lesson.

    Raises:
        SystemExit: always, with the exit status of `pages.lessons.desk.check_codes.main`.
    """
    sys.path.insert(0, str(app_script().parent))
    from pages.lessons.desk.check_codes import main

    sys.exit(main())


if __name__ == "__main__":
    main()
