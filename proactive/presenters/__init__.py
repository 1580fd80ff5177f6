"""Data for the pages and admin pages of reaching out."""
