# VERDICT not-faster
# AGAINST primes
# WHY The processor time of its threads is its own.
import threading


def work(limit, extra, found):
    for n in range(2, limit):
        for d in range(2, n):
            if n % d == 0:
                break
        else:
            found.append(n + extra)


def primes(limit, extra):
    found = []
    worker = threading.Thread(target=work, args=(limit, extra, found))
    worker.start()
    worker.join()
    return found
