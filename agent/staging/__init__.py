"""What is laid beside the running server, and never touches it: overlays, patches, environments."""
