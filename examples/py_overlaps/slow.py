def overlaps(spans, least):
    """For every span the number of others that share at least ``least`` with it; a span is (start, end)."""
    found = []
    for start, end in spans:
        count = 0
        for other_start, other_end in spans:
            if min(end, other_end) - max(start, other_start) >= least:
                count += 1
        found.append(count - 1)
    return found
