"""What `exact` found, for a terminal and as a page."""
