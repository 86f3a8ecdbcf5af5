"""The view of the sidebar, the runs of its model, the turns of runs, and widgets about runs that several pages share."""
