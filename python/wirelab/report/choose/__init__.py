"""What `choose` found, as text and as a page."""
