"""What is said: sessions, turns and every word of both sides (L2)."""
