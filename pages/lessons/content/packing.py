"""Packs a whole lesson into a link: as compressed JSON, written in characters that an address may contain."""

import base64
import json
import re
import zlib

from pages.lessons.content.lesson import Lesson, LessonError
from pages.lessons.content.reading import as_table, read_lesson
from pages.ui.limits import LESSON_BYTES, LESSON_LINK

# Every packed lesson begins with this, so that it cannot be mistaken for a name.
PACKED = "z."


def pack(lesson: Lesson) -> str:
    """A whole lesson, compressed, as the value of the URL parameter `lesson`.

    Raises:
        LessonError: the lesson is too long for a link.
    """
    data = json.dumps(as_table(lesson), ensure_ascii=False, separators=(",", ":")).encode()
    value = PACKED + base64.urlsafe_b64encode(zlib.compress(data, 9)).decode("ascii").rstrip("=")
    if len(value) > LESSON_LINK:
        raise LessonError(
            "This lesson would take {count:,} characters in a link; up to {most:,} are allowed. Save it as a file, or "
            "shorten it.",
            count=len(value),
            most=LESSON_LINK,
        )
    return value


def unpack(value: str) -> Lesson:
    """The lesson in a value that `pack` returned.

    Raises:
        LessonError: the value is too long, or is not a packed lesson.
    """
    if len(value) > LESSON_LINK:
        template = "The link's lesson has {count:,} characters; up to {most:,} are allowed."
        raise LessonError(template, count=len(value), most=LESSON_LINK)
    body = value.removeprefix(PACKED)
    try:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", body):
            raise ValueError
        stream = zlib.decompressobj()
        # A few characters can unpack to gigabytes.
        data = stream.decompress(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)), LESSON_BYTES + 1)
        if len(data) > LESSON_BYTES or not stream.eof:
            raise ValueError
        table = json.loads(data.decode("utf-8"))
    except (ValueError, zlib.error, RecursionError):
        raise LessonError("The lesson in the link is cut off or damaged. Ask for the link again, or for the file.") from None
    return read_lesson(table)
