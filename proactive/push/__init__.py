"""Notices to browsers that there is a new message. They hold no words."""
