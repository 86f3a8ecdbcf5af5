"""Lessons: stops on the pages, with questions. They are read from files and links, and shown in a bar above the pages."""
