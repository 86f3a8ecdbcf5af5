"""Lessons: guided tours through the pages, with questions. This module exports all names that other packages use."""

from pages.lessons.content.lesson import ABOUT_HEADS
from pages.lessons.playing.asked import Marks, asked_here, withheld
from pages.lessons.playing.keeping import show_keep
from pages.lessons.playing.lesson_bar import lesson_bar
from pages.lessons.playing.open_lesson import first_lesson, follow_lesson

__all__ = ["ABOUT_HEADS", "Marks", "asked_here", "first_lesson", "follow_lesson", "lesson_bar", "show_keep", "withheld"]
