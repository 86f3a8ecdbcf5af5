"""Work that is done when the server starts, so that the first visitors do not wait for it."""

import asyncio
import importlib
import pkgutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import numpy as np

import pages
from pages.shell.models.catalogue import available
from pages.shell.models.folders import LOG, folders
from pages.shell.models.model_examples import starts
from pages.shell.view.runs import runs
from pages.ui.charts import chart
from transformer.figures import head_map
from transformer.process import ignore_present_objects


@asynccontextmanager
async def warm_up(_: object) -> AsyncGenerator[None]:
    """The `lifespan` of `st.App`: when the server starts, import all modules and run each shipped model once (`get_ready`)."""
    await asyncio.to_thread(get_ready)
    yield


def get_ready() -> None:
    """Import what the pages import, run every shipped model on its first example, and draw a figure."""
    for module in pkgutil.walk_packages(pages.__path__, f"{pages.__name__}."):
        if not module.name.endswith(".page"):  # the script of a page draws when it is imported
            importlib.import_module(module.name)
    import_for_folders()
    for name in available():
        runs().trace(name, (starts(name)[0].source,), (None,), ())
    chart(head_map, np.eye(2), np.ones((2, 2), dtype=bool), ("a", "b"), ("a", "b"))
    ignore_present_objects()


def import_for_folders() -> None:
    """If the operator named models of Hugging Face, import the packages that open them. Otherwise, the first visitor who picks
    such a model would wait seconds for the import."""
    if any(each.model for each in folders().values()):
        try:
            importlib.import_module("transformer.huggingface.hf_opening")
        except ImportError:
            # The shipped models need none of these packages, so the server starts. A visitor who picks a model that needs them
            # sees an error.
            LOG.exception("The packages for models of Hugging Face cannot be imported")
