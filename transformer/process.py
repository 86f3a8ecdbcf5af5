"""Settings of this process: its memory, processor cores and open files. A program calls these functions; the library never
does."""

import ctypes
import gc
import platform
import sys

import torch

if sys.platform != "win32":
    import resource


def reuse_freed_memory(largest: int = 32 << 20) -> None:
    """Let glibc's `malloc` keep freed memory for the next trace instead of returning it to the kernel.

    A trace, which records a forward pass, is hundreds of large tensors that are freed together. By default glibc returns such
    blocks to the kernel and gets fresh pages for the next trace. The next trace then takes 1.26 times as long for 32 tokens, 3
    times for 512 (`benchmarks/`). With this setting the process stays as large as its peak. A program that caches a fixed
    number of traces is always near its peak anyway. Does nothing if the C library is not glibc.

    Args:
        largest: blocks of at least this many bytes are still returned at once; glibc allows at most 32 MiB.
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
    """Whether a program uses glibc as its C library. `program` is the path of its executable file; None for this Python."""
    return platform.libc_ver(program)[0] == "glibc"


def ignore_present_objects() -> None:
    """Exclude all objects that exist now from Python's garbage collection, as if all of them lived as long as the process.

    Call it when everything is imported. Otherwise a full collection visits each object of torch and Plotly. Such a collection
    takes 160 ms, about once in a hundred clicks in the app, and no request is served meanwhile.
    """
    gc.collect()
    gc.freeze()


def use_threads(count: int) -> None:
    """Set the number of threads that PyTorch uses for one forward pass, in the whole process."""
    torch.set_num_threads(count)


def allow_open_files(count: int) -> None:
    """Raise this process's limit on open files and connections to `count`, or to the system's hard limit if that is lower. The
    limit is never lowered.

    Each session of the app needs four open files, and many systems allow only 1,024 until a program asks for more. Does nothing
    on Windows, which has no such limit.
    """
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    raised = raised_limit(count, soft, hard)
    if raised != soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))


def raised_limit(count: int, soft: int, hard: int) -> int:
    """The soft limit on open files, raised to `count`, or to the limit `hard` if that is lower; `soft` itself if it is already
    as high. `resource.RLIM_INFINITY` stands for no limit."""
    most = count if hard == resource.RLIM_INFINITY else min(count, hard)
    return soft if soft == resource.RLIM_INFINITY else max(soft, most)
