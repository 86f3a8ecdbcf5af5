"""Marks for tests that need a program that pip does not install."""

import os

import pytest

from benchmarks.replicas import NGINX

# If the checks require a browser, they also require nginx.
needs_nginx = pytest.mark.skipif(
    not NGINX and os.environ.get("HEADLIGHT_BROWSER") != "required", reason="no nginx found; install Debian's nginx"
)
