"""The server process: its data folder, its lifetime, threads and memory, and logs without text of people."""
