"""Charts as static SVG that takes its colours from the page. Drawing only: statistics come from `estimates.json`."""
