"""The command `headlight`, which starts the app.

In an installed wheel, this package also holds the app itself: `app.py`, `pages/`, `assets/` and `.streamlit/`. At the top of
`site-packages` they would shadow modules of other projects. The library is `transformer`.
"""
