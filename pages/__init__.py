"""The pages of the app, one folder for each. No page script lies directly in `pages`, because Streamlit would run such a script
without `app.py`."""
