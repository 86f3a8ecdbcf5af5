"""What frames every page: sidebar, navigation, body, foot, glossary, and the bar for presenting."""
