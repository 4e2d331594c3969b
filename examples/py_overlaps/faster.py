from bisect import bisect_left, bisect_right


def overlaps(spans, least):
    """For every span the number of others that share at least ``least`` with it; a span is (start, end)."""
    long = [span for span in spans if span[1] - span[0] >= least]
    starts = sorted(start for start, _ in long)
    ends = sorted(end for _, end in long)
    found = []
    for start, end in spans:
        if end - start < least:
            found.append(-1)  # not even itself
            continue
        begun = bisect_right(starts, end - least)
        over = bisect_left(ends, start + least)
        found.append(begun - over - 1)
    return found
