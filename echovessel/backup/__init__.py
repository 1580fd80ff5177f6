"""Backup and restore: a whole installation in one file, and back.

A backup is a tar of three members, in this order:

    manifest.json      format, time and version of the backup, row counts, and the hashes of the other members
    database.sqlite3   a snapshot of the database, encrypted with the installation's DATABASE_KEY if there is one
    files.sqlite3      keys, knobs, help texts and media, as an SQLite archive (`sqlite3 files.sqlite3 -Ax` unpacks it);
                       encrypted with the same key

So a backup of an encrypted installation contains no text of people in the clear. It does not contain DATABASE_KEY and
other settings from the environment, static files, models and other backups.

    data_dir_lock  which processes are alive: a restore never replaces the files of a running process
    contents       which files of the data folder belong to an installation
    copy           a snapshot of the database while others write
    package        writes and reads the tar
    manifest       the description of a backup, and reasons to refuse it
    create         makes a backup, and deletes older ones
    restore        prepares and checks the new installation beside the running one
    revocations    logins and tokens that were revoked since stay revoked
    swap           puts the new installation in the old one's place in one step; after a crash the next process
                   completes it
"""
