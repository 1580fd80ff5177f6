"""What pages and admin show of reaching out."""
