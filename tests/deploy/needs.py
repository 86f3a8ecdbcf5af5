"""Marks of tests that need a program which pip does not install."""

import os

import pytest

from benchmarks.replicas import NGINX

# Where the checks require a browser, they require nginx as well.
needs_nginx = pytest.mark.skipif(
    not NGINX and os.environ.get("HEADLIGHT_BROWSER") != "required", reason="no nginx found; install Debian's nginx"
)
