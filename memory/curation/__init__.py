"""What people change in memory by hand: add, correct, hide, dispute, remember."""
