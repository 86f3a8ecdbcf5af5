"""The parts around every page: sidebar, navigation, the run and its banner, errors, footer."""
