"""Fixtures of the fuzz tests."""

import logging
from collections.abc import Iterator

import jaxtyping
import pytest

from tests.transformer.preparation import prepare

pytest.register_assert_rewrite("tests.pages.apps")
prepare()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Switch off the checks of shapes for the fuzz tests of the pages, as the tests of the pages do."""
    jaxtyping.config.update("jaxtyping_disable", item.path.stem == "test_links")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    jaxtyping.config.update("jaxtyping_disable", False)


class Records(logging.Handler):
    """A handler that keeps all messages with the level of a warning or higher."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(
            record.getMessage()
            + (f"\n{logging.Formatter().formatException(record.exc_info)}" if record.exc_info and record.exc_info[0] else "")
        )


@pytest.fixture
def log() -> Iterator[list[str]]:
    """The messages that the app and the library log during a test."""
    records = Records()
    logger = logging.getLogger("headlight")
    logger.addHandler(records)
    yield records.messages
    logger.removeHandler(records)
