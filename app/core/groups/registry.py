"""Every assignor by its name."""
