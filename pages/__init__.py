"""The pages of the app. Page scripts lie in the folders below, never directly here, where Streamlit would run them without
`app.py`."""
