"""What the server does before and around Streamlit's own work."""
