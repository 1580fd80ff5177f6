"""Python within an installation: pieces of code come in on standard input, a line of JSON each, and what they print
goes out. One process for all of a test: to start one costs two seconds of a core.

python -m tests.code_runner   # in the environment of the installation
"""

import contextlib
import io
import json
import sys

import django

if __name__ == "__main__":
    django.setup()
    from django.db import connections

    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        order, printed = json.loads(line), io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(order["code"], {"__name__": "inside"} | order["names"])  # a failure ends us, with its traceback
        answers.write(json.dumps(printed.getvalue()) + "\n")
        answers.flush()
        connections.close_all()
