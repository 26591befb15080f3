"""An experiment file as text, read into tables with the positions of its keys. It resolves nothing."""
