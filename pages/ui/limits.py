"""All limits on memory and on the size of a page. Limits that keep a figure readable stand beside the code that draws it.

Where you host the app yourself, the environment variable `HEADLIGHT_` + the name of a limit replaces its value, such as
`HEADLIGHT_CACHE_MEGABYTES=200`; docs/HOSTING.md lists them.
"""

import os

from transformer.environment import setting
from transformer.huggingface.limits import MODEL_MEGABYTES


def cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Memory of all that is computed once and kept, for all sessions together; the least recently used goes first. A shipped model
# takes 1 to 3 MB, one of the paper's base size about 180 and its trace at 64 tokens about 50; a trace of a shipped model takes
# 1 to 5 MB, a figure 10 to 60 kB, an answer less than 1 kB. The process itself takes about 400 MB, and a small host has 1 GB.
CACHE_MEGABYTES = setting("CACHE_MEGABYTES", 256)

# Kilobytes of a tensor up to which its memory is used again for the next one when it is freed, which is faster; that of a
# larger one goes back to the system at once. So a matrix of a large model, 1 or 4 MB, leaves nothing behind.
REUSED_KILOBYTES = setting("REUSED_KILOBYTES", 1_000)

# Megabytes of all models that are open from folders of the server, of which each has up to `MODEL_MEGABYTES`; the one that was
# not used for longest is closed first. They do not count as `CACHE_MEGABYTES`, or none of more than 256 MB could stay open.
OPEN_MEGABYTES = setting("OPEN_MEGABYTES", MODEL_MEGABYTES)

# Threads of a forward pass. With two on two cores, threads wait for one another: 100 sessions needed a quarter more processor
# time, and the median first page took 3.3 s instead of 0.2 s. The small models are as fast with one.
THREADS = setting("THREADS", 1, most=128)

# Bytes of the picture of all heads, which is sent with each click on another head: 24 × 24 cells for each of 32 × 32 heads,
# whose tiles are 21 × 14 pixels. Above it, a cell of a small map stands for several tokens.
GRID_BYTES = setting("GRID_BYTES", 600_000)

# Tokens on a side of the map of one head, and of the small map beside the picture of all heads. Above it, a cell stands for
# several tokens, and one row at a time has all its weights.
MAP_TOKENS, SMALL_MAP_TOKENS = setting("MAP_TOKENS", 128), setting("SMALL_MAP_TOKENS", 64)

# Weights of a layer that are sent to be drawn as lines; weights in a table or a page of all heads that can be saved.
LINES_WEIGHTS, SAVED_WEIGHTS = setting("LINES_WEIGHTS", 1_000_000), setting("SAVED_WEIGHTS", 5_000_000)

# Megabytes of a trace that can be downloaded; its file is made in memory.
TRACE_FILE_MEGABYTES = setting("TRACE_FILE_MEGABYTES", 500)

# Open files and connections. A session takes four: its connection, and the event loop that Streamlit gives it, which is kept
# for up to 128 sessions whose browser is gone. Many systems allow 1,024 until a program asks for more, as this one does.
FILES = setting("FILES", 8_192)

# Runs of the app that compute at the same time, each a click of somebody; the others wait in line (pages/shell/turns.py). Not
# one, so that a large model of one person does not stop all the others.
RUNS = setting("RUNS", 2)

# Trainings that compute at the same time, each for one visitor in a process of its own; the others wait in line. One for each
# two cores, so that a core is left for clicks. A process takes 300 to 1,100 MB (docs/HOSTING.md).
TRAININGS = setting("TRAININGS", max(1, cores() // 2))

# Priority of these processes, from 1 to 19, the lowest. At 10, a click gets nine times as much of a core as a training does.
TRAINING_NICENESS = setting("TRAINING_NICENESS", 10, most=19)

# Steps of a training, and minutes.
TRAINING_STEPS, TRAINING_MINUTES = setting("TRAINING_STEPS", 10_000), setting("TRAINING_MINUTES", 10)

# Megabytes of a model that a visitor uploads, and of all models that visitors have trained or uploaded and not yet left.
UPLOAD_MEGABYTES, OWN_MEGABYTES = setting("UPLOAD_MEGABYTES", 20), setting("OWN_MEGABYTES", 200)

# Parameters of the largest model that is built on request, 4 bytes each; the paper's base size has 44 million.
PARAMETERS = setting("PARAMETERS", 50_000_000)

# Parameters from which work on a model is heavy: others run first, and only one such work is done at a time.
# A pass of the model takes 10 ms and more, most of it outside of Python.
HEAVY_PARAMETERS = setting("HEAVY_PARAMETERS", 4_000_000)

# Seconds of a short training on the page Watch it learn; it is heavy work, of which one is done at a time.
EXPERIMENT_SECONDS = setting("EXPERIMENT_SECONDS", 90)

# Largest sizes of an own model: layers of each stack, heads, d_model, d_ff. Up to these, a figure of all heads is readable.
SIZES = {
    "n_layers": setting("LAYERS", 12),
    "n_heads": setting("HEADS", 16),
    "d_model": setting("D_MODEL", 1024),
    "d_ff": setting("D_FF", 4096),
}

# Sentences in a batch.
SENTENCES = setting("SENTENCES", 4, most=1_000)

# Characters in a text box; a longer pasted text is cut. The model has a limit of its own, in tokens.
TEXT_CHARACTERS = setting("TEXT_CHARACTERS", 1_000, most=1_000_000)

# Characters in a search box.
SEARCH_CHARACTERS = setting("SEARCH_CHARACTERS", 80)

# Bytes of the small pictures of heads on the map of the Home page; above it, the map has none.
MAP_BYTES = setting("MAP_BYTES", 100_000)

# Largest table of positions: positions and dimensions; and the positions shown at first of a longer one. The figure of the
# largest table is 4 MB on the wire; that of a shipped model's own table, 50 kB.
POSITIONS, POSITION_DIMENSIONS = setting("POSITIONS", 512), setting("POSITION_DIMENSIONS", 1024)
POSITIONS_FIRST = min(128, POSITIONS)

# A lesson: bytes of its file, characters of the whole of it in a link (a proxy in front may take no more than 8,000 in an
# address), its stops, and of a stop the characters of a text, the options of a question and the parameters of the view.
LESSON_BYTES, LESSON_LINK = setting("LESSON_BYTES", 200_000), setting("LESSON_LINK", 6_000)
LESSON_STOPS, LESSON_CHARACTERS = setting("LESSON_STOPS", 60), setting("LESSON_CHARACTERS", 4_000)
LESSON_OPTIONS, LESSON_PARAMETERS = setting("LESSON_OPTIONS", 10), setting("LESSON_PARAMETERS", 30)

# Classes that answer the questions of a lesson together: how many at once, the students and the answers of one, and minutes
# until it is gone. An answer takes about 200 bytes, so all of them together take up to 20 MB.
CLASSES, CLASS_STUDENTS = setting("CLASSES", 20), setting("CLASS_STUDENTS", 200)
CLASS_ANSWERS, CLASS_MINUTES = setting("CLASS_ANSWERS", 5_000), setting("CLASS_MINUTES", 60)

# Processes that serve this app behind one address. A class lives in one of them, so with more than one there are no classes.
REPLICAS = setting("REPLICAS", 1)
