"""The models that a visitor can choose: shipped, own, in folders of the server, and of a hub."""
