/* What the shim does with the arrays of a round: fills, reads and checks them; part of shim_calls.h. */
/* What is done with every array of the visited slots of this round: its bytes, which begin `offset` behind the start of their room. */
typedef bool visitor(const struct calls *, const struct array *, unsigned char *bytes, int fd);

static bool visit(const struct calls *calls, visitor *each, int fd) {
    unsigned char *at = calls->exchange + GUARD;
    for (uint32_t i = 0; i < calls->plan.arrays * calls->slots; i++) {
        const struct array *array = &calls->arrays[i % calls->plan.arrays];
        if (i / calls->plan.arrays >= calls->from && !each(calls, array, at + calls->plan.offset, fd)) return false;
        at += room_of(calls, array);
    }
    return true;
}

static uint32_t drawn(uint32_t least, uint32_t most) {
    uint32_t found;
    if (getrandom(&found, sizeof found, 0) != sizeof found) die("getrandom");
    return least + found % (most - least + 1);
}

/* What is written holds before the call what no program may count on: 0xff, which is NaN as a real number and no address
 * or table, but -1 as a whole one, and a program may want that; so for half of the arrays, by a coin, some other byte. */
static bool fill(const struct calls *calls, const struct array *array, unsigned char *bytes, int fd) {
    (void)calls;
    if (array->kind == WRITTEN && drawn(0, 1))
        memset(bytes, (int)drawn(1, 0xfe), size_of(array));
    else if (array->kind != READ_ONLY && array->kind != READ_AND_WRITTEN)
        memset(bytes, 0xff, size_of(array));
    else
        read_whole(fd, bytes, array->bytes);
    return true;
}

static bool pass_held(const struct calls *, const struct array *, const unsigned char *bytes, int fd, bool again);
static bool pass_gathered(const struct calls *, const struct array *, const unsigned char *bytes, int fd, bool again);

static bool copy_out(const struct calls *calls, const struct array *array, unsigned char *bytes, int fd) {
    if (calls->is_after != (array->kind == AFTERWARDS)) return true;
    if (array->kind == GATHERED || array->kind == AFTERWARDS) return pass_gathered(calls, array, bytes, fd, false);
    if (array->kind == HELD) return pass_held(calls, array, bytes, fd, false);
    if (array->kind != READ_ONLY) write_whole(fd, bytes, array->bytes);
    return true;
}

static bool is_poison(const unsigned char *from, const unsigned char *to) {
    while (from < to && *from == 0xa5) from++;
    return from == to;
}

static bool is_whole(const struct calls *calls, const struct array *array, unsigned char *bytes, int fd) {
    unsigned char *room = bytes - calls->plan.offset;
    (void)fd;
    return is_poison(room, bytes) && is_poison(bytes + size_of(array), room + room_of(calls, array));
}

/* Whether what is only read still is what is in `fd` from its offset on. */
static bool is_unread(const struct calls *calls, const struct array *array, unsigned char *bytes, int fd) {
    static unsigned char page[65536];
    (void)calls;
    if (array->kind != READ_ONLY && array->kind != READ_AND_WRITTEN) return true;
    for (uint64_t at = 0, size; at < array->bytes; at += size) {
        size = array->bytes - at < sizeof page ? array->bytes - at : sizeof page;
        read_whole(fd, page, size);
        if (array->kind == READ_ONLY && memcmp(page, bytes + at, size)) return false;
    }
    return true;
}
