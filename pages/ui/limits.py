"""All limits on memory and on the size of a page. Limits that keep a figure readable are next to the code that draws it.

If you host the app yourself, an environment variable replaces the value of a limit. Its name is `HEADLIGHT_` + the name of the
limit, such as `HEADLIGHT_CACHE_MEGABYTES=200`. docs/HOSTING.md lists these variables.
"""

import os

from transformer.environment import setting
from transformer.huggingface.hf_limits import MODEL_MEGABYTES


def cores() -> int:
    """The number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Megabytes of all cached results, for all sessions together; the least recently used result is dropped first. A shipped model
# takes 1 to 3 MB, its trace 1 to 5 MB. A model of the paper's base size takes about 180 MB, its trace at 64 tokens about 50 MB.
# A figure takes 10 to 60 kB, an answer less than 1 kB. The process itself takes about 400 MB, and a small host has 1 GB.
CACHE_MEGABYTES = setting("CACHE_MEGABYTES", 256)

# The memory of a freed tensor of up to this many kilobytes is used again for a later tensor, which is faster. The memory of a
# larger tensor is returned to the system at once, so a matrix of a large model (1 or 4 MB) leaves no unused memory behind.
REUSED_KILOBYTES = setting("REUSED_KILOBYTES", 1_000)

# Megabytes of all open models from folders of the server. Each of them has up to `MODEL_MEGABYTES`; the least recently used
# model is closed first. These models do not count towards `CACHE_MEGABYTES`, because otherwise no model above 256 MB could stay
# open.
OPEN_MEGABYTES = setting("OPEN_MEGABYTES", MODEL_MEGABYTES)

# Threads of a forward pass. Two threads on two cores wait for one another: 100 sessions needed a quarter more processor time,
# and the median first page took 3.3 s instead of 0.2 s. The small models are as fast with one thread.
THREADS = setting("THREADS", 1, most=128)

# Bytes of the picture of all heads, which is sent with each click on another head. The limit allows 24 × 24 cells for each of
# 32 × 32 heads, whose tiles have 21 × 14 pixels. Above the limit, a cell of a small map stands for several tokens.
GRID_BYTES = setting("GRID_BYTES", 600_000)

# Tokens on a side of the map of one head, and on a side of the small map beside the picture of all heads. Above the limit, a
# cell stands for several tokens, and all weights are drawn for one row at a time only.
MAP_TOKENS, SMALL_MAP_TOKENS = setting("MAP_TOKENS", 128), setting("SMALL_MAP_TOKENS", 64)

# Most weights of a layer that are sent to the browser, which draws them as lines. Most weights in a saved table or in a saved
# page of all heads.
LINES_WEIGHTS, SAVED_WEIGHTS = setting("LINES_WEIGHTS", 1_000_000), setting("SAVED_WEIGHTS", 5_000_000)

# Megabytes of the largest trace that can be downloaded. Its file is made in memory.
TRACE_FILE_MEGABYTES = setting("TRACE_FILE_MEGABYTES", 500)

# Open files and connections. A session uses four of them, for its connection and for its event loop. Streamlit keeps the event
# loops of up to 128 sessions whose browser has gone. Many systems allow 1,024 until a program requests more, as this app does.
FILES = setting("FILES", 8_192)

# Runs of the app that compute at the same time; a run is the answer to one click. The other runs wait in line
# (pages/shell/view/turns.py). More than one, so that the large model of one visitor does not stop all other visitors.
RUNS = setting("RUNS", 2)

# Trainings that compute at the same time, each for one visitor in its own process; the other trainings wait in line. One
# training for every two cores leaves a core for clicks. A process takes 300 to 1,100 MB (docs/HOSTING.md).
TRAININGS = setting("TRAININGS", max(1, cores() // 2))

# The niceness of the training processes: 1 to 19, and 19 is the lowest priority. At 10, a click gets nine times as much
# processor time as a training.
TRAINING_NICENESS = setting("TRAINING_NICENESS", 10, most=19)

# Most steps and most minutes of a training.
TRAINING_STEPS, TRAINING_MINUTES = setting("TRAINING_STEPS", 10_000), setting("TRAINING_MINUTES", 10)

# Megabytes of a model that a visitor uploads, and of all models that present visitors have trained or uploaded.
UPLOAD_MEGABYTES, OWN_MEGABYTES = setting("UPLOAD_MEGABYTES", 20), setting("OWN_MEGABYTES", 200)

# Parameters of the largest model that is built on request, 4 bytes each; the paper's base size has 44 million.
PARAMETERS = setting("PARAMETERS", 50_000_000)

# From this many parameters on, work on a model is heavy: other work runs first, and only one heavy job runs at a time.
# A forward pass of such a model takes 10 ms or more, most of it outside Python.
HEAVY_PARAMETERS = setting("HEAVY_PARAMETERS", 4_000_000)

# Seconds of a short training on the page Watch it learn. It is heavy work, so only one such training runs at a time.
EXPERIMENT_SECONDS = setting("EXPERIMENT_SECONDS", 90)

# Patching every token of every place waits for a click if it is more work than this: places × tokens of a run × parameters. The
# limit is about 5 seconds on two cores; the shipped models stay far below.
PATCH_WORK = setting("PATCH_WORK", 200_000_000_000)

# Seconds of patching every place of a model (page Patching). A model of GPT-2 small's shape takes about a minute.
PATCHING_SECONDS = setting("PATCHING_SECONDS", 300)

# Largest sizes of a visitor's own model: layers of each stack, heads, d_model, d_ff. Up to these sizes, a figure of all heads
# is readable.
SIZES = {
    "n_layers": setting("LAYERS", 12),
    "n_heads": setting("HEADS", 16),
    "d_model": setting("D_MODEL", 1024),
    "d_ff": setting("D_FF", 4096),
}

# Sentences in a batch.
SENTENCES = setting("SENTENCES", 4, most=1_000)

# Characters of a text. A longer one is refused in a sentence, before any work on it; the text of a second run and the text that
# a live training watches are cut. The model has its own limit, in tokens.
TEXT_CHARACTERS = setting("TEXT_CHARACTERS", 1_000, most=1_000_000)

# Characters in a search box.
SEARCH_CHARACTERS = setting("SEARCH_CHARACTERS", 80)

# Bytes of the small pictures of heads on the map of the Home page. Above the limit, the map has no pictures of heads.
MAP_BYTES = setting("MAP_BYTES", 100_000)

# Largest table of positions: its positions and dimensions. `POSITIONS_FIRST` is how many positions of a longer table are shown
# at first. The figure of the largest table takes 4 MB when it is sent, the figure of a shipped model's table 50 kB.
POSITIONS, POSITION_DIMENSIONS = setting("POSITIONS", 512), setting("POSITION_DIMENSIONS", 1024)
POSITIONS_FIRST = min(128, POSITIONS)

# A lesson: bytes of its file, and characters of the lesson in a link, because a proxy may refuse an address of more than 8,000
# characters. Then the number of its stops, and for each stop: characters of a text, options of a question, and parameters of
# the view.
LESSON_BYTES, LESSON_LINK = setting("LESSON_BYTES", 200_000), setting("LESSON_LINK", 6_000)
LESSON_STOPS, LESSON_CHARACTERS = setting("LESSON_STOPS", 60), setting("LESSON_CHARACTERS", 4_000)
LESSON_OPTIONS, LESSON_PARAMETERS = setting("LESSON_OPTIONS", 10), setting("LESSON_PARAMETERS", 30)

# Classes that answer the questions of a lesson together: how many classes exist at the same time (0 switches class mode off),
# the students and the answers of one class, and the minutes until a class is deleted. An answer takes about 200 bytes, so all
# answers take up to 20 MB.
CLASSES, CLASS_STUDENTS = setting("CLASSES", 20, least=0), setting("CLASS_STUDENTS", 200)
CLASS_ANSWERS, CLASS_MINUTES = setting("CLASS_ANSWERS", 5_000), setting("CLASS_MINUTES", 180)

# Attempts in a minute to join a class from one address of the internet, with right codes and wrong ones. A whole classroom has
# one address behind its router. At this rate, guessing the code of one of 20 classes takes months.
CLASS_JOINS = setting("CLASS_JOINS", 120)

# Processes that serve this app behind one address. A class exists in one process only, so with several processes there are no
# classes.
REPLICAS = setting("REPLICAS", 1)
