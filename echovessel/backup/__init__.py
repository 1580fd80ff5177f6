"""Backup and restore: a whole installation in one file, and back.

A backup is a tar of three members, in this order:

    manifest.json      what it is, when and by which version it was made, how many rows, and the hashes of the others
    database.sqlite3   the database at one moment; under the installation's DATABASE_KEY where it has one
    files.sqlite3      keys, knobs, help texts and media, as an SQLite archive (`sqlite3 files.sqlite3 -Ax` unpacks it);
                       under the same key

So nothing that people said stands in a backup of an encrypted installation in the clear. DATABASE_KEY itself, and what
else comes from the environment, is not in it. Static files, models and other backups are not, either.

    presence    who is there: nothing is restored under a process that is alive
    contents    what of the data folder belongs to an installation
    copying     the database, as it was at one moment, while others write
    packing     the tar, out and in
    manifest    what it says of itself, and why it cannot be taken
    making      a backup, and which older ones go with it
    restoring   all that is done beside the living installation, before it is touched
    swapping    the one moment in which the one takes the other's place; whoever comes after a death ends it
"""
