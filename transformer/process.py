"""How this process uses memory and processors. A program calls these functions when it starts; the library never does."""

import ctypes
import gc
import platform
import sys

import torch

if sys.platform != "win32":
    import resource


def reuse_freed_memory(largest: int = 32 << 20) -> None:
    """Let glibc's `malloc` keep freed memory for the next trace instead of returning it to the kernel.

    A trace is hundreds of large tensors that are freed together. By default glibc returns such blocks to the kernel and gets
    fresh pages for the next trace, which then takes 1.26 times as long at 32 tokens, 3 times at 512 (`benchmarks/`). With this
    setting the process stays as large as its peak; a bounded cache of traces keeps it near its peak anyway. Does nothing if the
    C library is not glibc.

    Args:
        largest: blocks of at least this many bytes are still returned at once; glibc allows up to 32 MB.
    """
    if not has_glibc():
        return
    trim_threshold, mmap_threshold, most_arenas = -1, -3, -8  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX of malloc.h
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(trim_threshold, 1 << 30)
    mallopt(mmap_threshold, largest)
    # Threads that share an arena reuse each other's freed memory. By default there are eight arenas for each core, and each
    # has its own peak.
    mallopt(most_arenas, 2)


def return_freed_memory() -> None:
    """Return free memory to the kernel. Call it after work that used much memory; it takes some milliseconds. Does nothing if
    the C library is not glibc."""
    if has_glibc():
        ctypes.CDLL(None).malloc_trim(0)


def has_glibc(program: str | None = None) -> bool:
    """Whether the C library of a program is glibc; by default, of this Python."""
    return platform.libc_ver(program)[0] == "glibc"


def ignore_present_objects() -> None:
    """Exclude all objects that exist now from Python's garbage collection. They live as long as the process.

    Call it when everything is imported. Otherwise a full collection visits each object of torch and Plotly. This takes 160 ms,
    about once in a hundred clicks, and no request is served meanwhile.
    """
    gc.collect()
    gc.freeze()


def use_threads(count: int) -> None:
    """Let PyTorch compute a forward pass with `count` threads. This holds for the whole process."""
    torch.set_num_threads(count)


def allow_open_files(count: int) -> None:
    """Raise the limit on open files and connections to `count`, or to the most that the system lets this process set. The limit
    is never lowered.

    Each session of a server needs four open files, and many systems allow only 1,024 until a program asks for more. Does
    nothing on Windows, which has no such limit.
    """
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    raised = raised_limit(count, soft, hard)
    if raised != soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))


def raised_limit(count: int, soft: int, hard: int) -> int:
    """The limit `soft`, raised to `count` but at most to `hard`; `soft` itself if it is already as high."""
    most = count if hard == resource.RLIM_INFINITY else min(count, hard)
    return soft if soft == resource.RLIM_INFINITY else max(soft, most)
