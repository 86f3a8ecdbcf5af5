"""What a page looks at and computes: the view of the sidebar, the runs of its model, and whose turn it is."""
