"""The frames, which are the kinds of sentences. `FRAMES` has every frame by name.

The function of a frame gets a path, passes it the English words of one sentence, and returns the French words before elision
(`sound.settle`).
"""

from transformer.tasks.conversation.frames.asking import FRAMES as ASKING
from transformer.tasks.conversation.frames.being import FRAMES as BEING
from transformer.tasks.conversation.frames.comparing import FRAMES as COMPARING
from transformer.tasks.conversation.frames.courtesy import FRAMES as COURTESY
from transformer.tasks.conversation.frames.doing import FRAMES as DOING
from transformer.tasks.conversation.frames.frame import Frame
from transformer.tasks.conversation.frames.reference import FRAMES as REFERENCE
from transformer.tasks.conversation.frames.reference import RIGID_FRAMES as RIGID

FRAMES: dict[str, Frame] = {frame.name: frame for frame in (*COURTESY, *BEING, *COMPARING, *REFERENCE, *DOING, *ASKING)}

# The frames of `english-french-static`.
RIGID_FRAMES: dict[str, Frame] = {frame.name: frame for frame in RIGID}

__all__ = ["FRAMES", "RIGID_FRAMES", "Frame"]
