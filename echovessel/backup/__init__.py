"""Backup and restore: a whole installation in one file, and back.

A backup is a tar of three members, in this order:

    manifest.json      what it is, when and by which version it was made, how many rows, and the hashes of the others
    database.sqlite3   the database at one moment; under the installation's DATABASE_KEY where it has one
    files.sqlite3      keys, knobs, help texts and media, as an SQLite archive (`sqlite3 files.sqlite3 -Ax` unpacks it);
                       under the same key

So nothing that people said stands in a backup of an encrypted installation in the clear. DATABASE_KEY itself, and what
else comes from the environment, is not in it. Static files, models and other backups are not, either.

    data_dir_lock  which processes are there: nothing is restored under one that is alive
    contents       which files of the data folder belong to an installation
    copy           the database as it was at one moment, while others write
    package        the tar, written and read
    manifest       what a backup says of itself, and why it is refused
    create         makes a backup, and deletes older ones
    restore        everything that happens beside the running installation, before it is touched
    revocations    logins and tokens that were ended since stay ended
    swap           the one moment in which the new installation takes the old one's place; after a death the next
                   process finishes it
"""
