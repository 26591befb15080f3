"""What `explain` found, as text and as a page."""
