"""Whether a page must hide a result because the open lesson asks for it."""

from pages.lessons.content.lesson import LessonError
from pages.lessons.content.question_data import question_data
from pages.lessons.playing.open_lesson import lesson_in_class, open_lesson


def waits_for(truth: str) -> bool:
    """Whether the open stop asks for a truth, named as in `TRUTHS`, and its answer may still change."""
    opened = open_lesson()
    if opened is None:
        return False
    try:
        lesson = lesson_in_class(opened)
    except LessonError:
        return False
    question = lesson.stops[opened.stop].question if opened.stop < len(lesson.stops) else None
    if not (question and question.truth and question.truth.name == truth):
        return False
    data = question_data(lesson, opened.stop, opened.answers.get(opened.stop))
    return data is not None and not data["settled"]
