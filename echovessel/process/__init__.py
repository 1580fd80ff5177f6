"""The server process: who it is, whether its parent lives, threads, memory, and logs without anybody's words."""
