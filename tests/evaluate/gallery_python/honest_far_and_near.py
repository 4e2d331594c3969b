# VERDICT correct
# AGAINST distances
# WHY Another order of additions changes last digits, beside numbers that are far from the others too.
import heapq

FAR = 1e18


def distances(edges, count):
    ways = [[] for _ in range(count)]
    for a, b, length in edges:
        ways[a].append((b, length))
    found = [FAR] * count
    found[0] = 0.0
    waiting = [(0.0, 0)]
    while waiting:
        apart, here = heapq.heappop(waiting)
        if apart > found[here]:
            continue
        for there, length in ways[here]:
            if length + apart < found[there]:
                found[there] = length + apart
                heapq.heappush(waiting, (length + apart, there))
    return found
