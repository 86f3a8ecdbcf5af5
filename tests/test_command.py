"""The command `headlight`, up to the point where it starts the app (`tests/pages/test_install.py` starts it)."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import transformer
from benchmarks.app_server import free_port
from headlight.__main__ import app_script, main, port_problem


def ending(*arguments: str) -> str | int | None:
    """The status or the message with which the command ends."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def test_the_version_is_that_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--version"])
    assert capsys.readouterr().out == f"headlight {transformer.__version__}\n"


def test_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending("--help") == 0
    assert set(re.findall(r"--\w+", capsys.readouterr().out)) == {"--help", "--port", "--models", "--version"}


def test_a_taken_port_is_said_in_one_sentence() -> None:
    with socket.create_server(("", 0)) as other:
        port = other.getsockname()[1]
        message = ending("--port", str(port))
    assert message == (
        f"headlight: Port {port} is taken by another program; choose another one, for example: headlight --port {port + 1}"
    )


@pytest.mark.parametrize("name", ["", "::1", "localhost"])
def test_a_port_that_is_taken_at_one_address_of_a_name_is_refused(name: str) -> None:
    *_, family, place = max(
        (family, place[:1]) for family, *_, place in socket.getaddrinfo(name or "localhost", 0, type=socket.SOCK_STREAM)
    )
    with socket.create_server((*place, 0), family=family) as other:
        port = other.getsockname()[1]
        assert "is taken by another program" in port_problem(port, name)
    assert port_problem(port, name) == ""


def test_an_unknown_address_is_said_in_one_sentence() -> None:
    assert port_problem(free_port(), "no such address").startswith("The address no such address cannot be used: ")


@pytest.mark.slow
def test_a_wrong_variable_is_said_in_one_sentence() -> None:
    wrong = {**os.environ, "STREAMLIT_SERVER_HEADLESS": "true", "HEADLIGHT_RUNS": "abc"}
    command = [sys.executable, "-m", "headlight", "--port", str(free_port())]
    folder = app_script().parent / "deploy"
    done = subprocess.run(command, cwd=folder, env=wrong, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == ("headlight: HEADLIGHT_RUNS is 'abc'; expected a whole number from 1 to 2147483647, such as 2.\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--port", "0"], "'0' is not a port; allowed are 1 to 65535"),
        (["--port", "many"], "'many' is not a port"),
        (["--port", "٣"], "'٣' is not a port"),
        (["--models", "nowhere"], "there is no folder 'nowhere'"),
        (["attention"], "unrecognized arguments"),
    ],
)
def test_wrong_arguments_are_refused(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(*arguments) == 2
    assert problem in capsys.readouterr().err


def test_ctrl_c_ends_the_app_without_an_error() -> None:
    own = {"STREAMLIT_SERVER_HEADLESS": "true", "STREAMLIT_SERVER_ADDRESS": "127.0.0.1", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "headlight", "--port", str(free_port())]
    with subprocess.Popen(
        command,
        cwd=app_script().parent / "deploy",
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as app:
        assert app.stdout
        said = next(line for line in app.stdout if "URL:" in line)
        app.send_signal(signal.SIGINT)
        try:
            said += app.communicate(timeout=60)[0]
        finally:
            app.kill()
    assert app.returncode == 0
    assert said.endswith("headlight has stopped.\n")
    assert "Traceback" not in said


def test_the_settings_of_another_project_in_the_current_folder_are_not_read(tmp_path: Path) -> None:
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text('[server]\nbaseUrlPath = "foreign"\n[theme]\nbase = "dark"\n')
    own = {"STREAMLIT_SERVER_HEADLESS": "true", "STREAMLIT_SERVER_ADDRESS": "127.0.0.1", "PYTHONUNBUFFERED": "1"}
    own |= {"PYTHONPATH": str(app_script().parent / "deploy")}
    port = free_port()
    command = [sys.executable, "-m", "headlight", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, **own}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as app:
        assert app.stdout
        said = next(line for line in app.stdout if "URL:" in line)
        app.kill()
    assert said.split()[-1] == f"http://localhost:{port}"


def test_in_the_repository_the_script_of_the_app_is_at_the_top() -> None:
    assert app_script() == Path(__file__).parents[1] / "app.py"
