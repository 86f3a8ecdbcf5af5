"""Lessons: stops on the pages, with questions. All that the rest of the app needs of them is named here."""

from pages.lessons.playing.first_lesson import first_lesson
from pages.lessons.playing.keeping import show_keep
from pages.lessons.playing.lesson_bar import lesson_bar
from pages.lessons.playing.marks import Marks, marks_on
from pages.lessons.playing.open_lesson import follow_lesson, lesson_is_open
from pages.lessons.playing.picture import lesson_picture
from pages.lessons.playing.withheld import waits_for

__all__ = [
    "Marks",
    "first_lesson",
    "follow_lesson",
    "lesson_bar",
    "lesson_is_open",
    "lesson_picture",
    "marks_on",
    "show_keep",
    "waits_for",
]
