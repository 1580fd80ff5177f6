"""What the site does for every page, whichever app it belongs to."""
