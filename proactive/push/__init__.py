"""Push notifications that there is a new message. They contain no words of it."""
