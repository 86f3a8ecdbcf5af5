"""Links from a head to other pages that know more about it."""
