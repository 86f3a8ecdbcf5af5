"""Server code that runs before Streamlit's own code and around it."""
