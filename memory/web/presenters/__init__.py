"""The content of pages, API responses and admin pages, one module for each."""
