"""What pages, API and admin show, prepared for each of them."""
