"""The companion's page: its parts, its picture, and edits that are published to open pages."""
