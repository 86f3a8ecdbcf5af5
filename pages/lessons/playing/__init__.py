"""A lesson that is open: its bar above the pages, its answers, and what a page does not tell yet."""
