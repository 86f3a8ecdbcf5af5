"""The parts of the page Lessons: the list, the editor, the sheet to print, and the tests."""
