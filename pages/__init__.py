"""What a person sees. Page scripts lie in folders below, never here: Streamlit would run them without `app.py`."""
