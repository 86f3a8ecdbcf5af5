"""How this process uses memory and processors. A program calls these when it starts; the library never does."""

import ctypes
import platform
import sys

import torch

if sys.platform != "win32":
    import resource


def reuse_freed_memory() -> None:
    """Tell glibc's `malloc` to keep freed memory for the next trace instead of giving it back to the kernel.

    A trace is hundreds of large tensors that are freed together. By default glibc returns such blocks to the kernel and gets
    fresh pages for the next trace: 1.26 × the time at 32 tokens, 3 × at 512 (`benchmarks/`). The process keeps the size of
    its peak instead, which a bounded cache of traces has anyway. Does nothing where the C library is not glibc.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    trim_threshold, mmap_threshold = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(trim_threshold, 1 << 30)
    mallopt(mmap_threshold, 32 << 20)  # the largest that glibc takes


def use_threads(count: int) -> None:
    """Let a forward pass use this many threads, in whatever thread of the process it runs."""
    torch.set_num_threads(count)


def allow_open_files(count: int) -> None:
    """Raise the limit on open files and connections to this number, or as far as this process may; never lower it.

    A session of a server takes four of them, and many systems allow 1,024 until a program asks for more. Does nothing on
    Windows, which has no such limit.
    """
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
