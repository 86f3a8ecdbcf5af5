"""Links from a head to other pages that show more about this head."""
