"""Lessons: stops on the pages, with questions; read from files and links, and played in a bar above the pages."""
