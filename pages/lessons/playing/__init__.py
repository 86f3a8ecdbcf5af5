"""A lesson that is open: its bar above the pages, its answers, and what a page must hide before an answer."""
