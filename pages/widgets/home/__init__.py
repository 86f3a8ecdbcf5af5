"""The pieces of the Home page: the map of the model, the cards, and where they lead."""
