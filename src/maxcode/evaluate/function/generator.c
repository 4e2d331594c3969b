/* Prints the plan and the inputs of calls (shim_calls.h); compiled with the user's inputs.c, run in the sandbox.
 *
 *   generator ROUNDS SLOTS OFFSET SCALAR... BYTES... KIND... VALUES...
 *
 * Standard input: two keys of 32 bytes, one of the values, one of the seeds that maxcode_fill is given.  Numbers come out
 * of ChaCha with 8 rounds, written after the description in RFC 8439: who sees some of them learns nothing of others.
 *
 * VALUES, a word for each array: a letter of how values are drawn, '!' where the problem itself says what values there
 * may be and '-' elsewhere, then which: '*' any, '+' above 0, '0' not below 0, ':LOW,HIGH' both included.  The letter u
 * is the usual way: uniform in [-1, 1), whole numbers of -999 to 999, or within LOW and HIGH.  habits.py explains the
 * other letters; where there is another one, two of the calls are drawn by it, which ones a coin says, and the rest the usual
 * way.  An array that maxcode_fill changes is drawn the usual way before, unless its word has a '!'.  Standard
 * error: the letter by which each array was drawn.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const int maxcode_scalars, maxcode_arrays;
extern const char maxcode_types[]; /* of the arrays: d, f, i or l */
void maxcode_fill(unsigned long seed, const long *scalars, void *const *arrays);

/* ------------------------------------------------------------------------------------------------------- ChaCha8 */

struct stream {
    uint32_t key[8];
    uint64_t block;
    uint32_t words[16];
    int left;
};

static struct stream values, seeds;

static uint32_t turned(uint32_t word, int by) { return word << by | word >> (32 - by); }

static void quarter(uint32_t *w, int a, int b, int c, int d) {
    w[a] += w[b], w[d] = turned(w[d] ^ w[a], 16);
    w[c] += w[d], w[b] = turned(w[b] ^ w[c], 12);
    w[a] += w[b], w[d] = turned(w[d] ^ w[a], 8);
    w[c] += w[d], w[b] = turned(w[b] ^ w[c], 7);
}

static void refill(struct stream *from) {
    uint32_t begin[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; /* "expand 32-byte k" */
    memcpy(begin + 4, from->key, sizeof from->key);
    begin[12] = (uint32_t)from->block, begin[13] = (uint32_t)(from->block >> 32);
    memcpy(from->words, begin, sizeof begin);
    for (int i = 0; i < 4; i++) { /* two rounds each: columns, then diagonals */
        for (int j = 0; j < 4; j++) quarter(from->words, j, 4 + j, 8 + j, 12 + j);
        for (int j = 0; j < 4; j++) quarter(from->words, j, 4 + (j + 1) % 4, 8 + (j + 2) % 4, 12 + (j + 3) % 4);
    }
    for (int i = 0; i < 16; i++) from->words[i] += begin[i];
    from->block++;
    from->left = 16;
}

static uint64_t next(struct stream *from) {
    if (from->left < 2) refill(from);
    from->left -= 2;
    return (uint64_t)from->words[from->left] << 32 | from->words[from->left + 1];
}

static uint64_t below(uint64_t limit) { return next(&values) % limit; }

/* -------------------------------------------------------------------------------------------------------- values */

enum { FEW = 4, LITTLE = 4, FAR = 30 }; /* values of an array of repeats; exponents, of which half are little */

struct rule { /* how the values of an array are drawn */
    char letter, which;
    bool is_stated;
    double low, high;
    int64_t least, most;
};

static double usual_real(const struct rule *rule) {
    const double unit = (double)(next(&values) >> 11) * 0x1p-53; /* [0, 1) */
    if (rule->which == '+') return 1 - unit;
    if (rule->which == '0') return unit;
    if (rule->which != ':') return 2 * unit - 1;
    const double found = rule->low + (rule->high - rule->low) * unit;
    return found < rule->low ? rule->low : found > rule->high ? rule->high : found;
}

static int64_t usual_whole(const struct rule *rule) {
    if (rule->which == '+') return 1 + (int64_t)below(1000);
    if (rule->which == '0') return (int64_t)below(1000);
    if (rule->which != ':') return (int64_t)below(1999) - 999;
    const uint64_t span = (uint64_t)rule->most - (uint64_t)rule->least;
    return (int64_t)((uint64_t)rule->least + (span == UINT64_MAX ? next(&values) : below(span + 1)));
}

/* The values that are drawn once for an array. */
struct choice {
    int exponent, most;
    uint64_t rare; /* one value in so many is far from the others */
    double real[FEW];
    int64_t whole[FEW];
};

static int64_t of_any_size(char type) {
    const int64_t whole = type == 'l' ? (int64_t)next(&values) : (int32_t)next(&values);
    return whole >> below(type == 'l' ? 63 : 31);
}

static double edge_real(const struct rule *rule, const struct choice *once) {
    const double found[] = {0, 1, -1, ldexp(1, once->exponent), ldexp(-1, -once->exponent), 1 + DBL_EPSILON, 0.5, -2};
    if (rule->which == ':') return below(2) ? rule->low : rule->high;
    return found[below(8)];
}

static int64_t edge_whole(char type, const struct rule *rule) {
    const int64_t most = type == 'l' ? INT64_MAX : INT32_MAX, power = (int64_t)1 << below(type == 'l' ? 63 : 31);
    const int64_t found[] = {0, 1, -1, most, -most - 1, power, power - 1, -power};
    if (rule->which == ':') return below(2) ? rule->least : rule->most;
    return found[below(8)];
}

/* A few of them, of which no look at a few places tells: the others are as usual. */
static bool is_far(const struct choice *once) { return below(once->rare) == 0; }

static double real_value(const struct rule *rule, const struct choice *once) {
    const double usual = usual_real(rule);
    switch (rule->letter) {
    case 's': return ldexp(usual, once->exponent);
    case 'f': return ldexp(usual, abs(once->exponent));
    case 'w': return ldexp(usual, (int)below(2 * (uint64_t)once->most + 1) - once->most);
    case 'p': return fabs(usual);
    case 'n': return -fabs(usual);
    case 'z': return below(2) ? 0 : usual;
    case 'r': return once->real[below(FEW)];
    case 'c': return once->real[0];
    case 'i': return (double)below(7) - 3;
    case 'e': return edge_real(rule, once);
    case 'l': return is_far(once) ? ldexp(below(2) ? -usual : usual, abs(once->exponent)) : usual;
    default: return usual;
    }
}

static int64_t whole_value(char type, const struct rule *rule, const struct choice *once) {
    const int64_t most = type == 'l' ? INT64_MAX : INT32_MAX;
    switch (rule->letter) {
    case 'f': return type == 'l' ? (int64_t)next(&values) : (int32_t)next(&values);
    case 's': case 'w': case 'o': case 'd': return of_any_size(type);
    case 'p': return of_any_size(type) & most;
    case 'n': return -(of_any_size(type) & most);
    case 'z': return below(2) ? 0 : usual_whole(rule);
    case 'r': return once->whole[below(FEW)];
    case 'c': return once->whole[0];
    case 'i': return (int64_t)below(7) - 3;
    case 'e': return edge_whole(type, rule);
    case 'l': return is_far(once) ? of_any_size(type) : usual_whole(rule);
    default: return usual_whole(rule);
    }
}

static double real_within(const struct rule *rule, double value) {
    if (rule->which == ':') return value < rule->low || value > rule->high ? usual_real(rule) : value;
    if (rule->which == '+' && value == 0) return 1;
    return rule->which == '+' || rule->which == '0' ? fabs(value) : value;
}

static int64_t whole_within(const struct rule *rule, int64_t value) {
    if (rule->which == ':') return value < rule->least || value > rule->most ? usual_whole(rule) : value;
    if (rule->which != '+' && rule->which != '0') return value;
    if (value < 0) value = -(value + 1); /* the least number has no opposite */
    return rule->which == '+' && value == 0 ? 1 : value;
}

static int by_real(const void *one, const void *other) {
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static int by_float(const void *one, const void *other) {
    const float a = *(const float *)one, b = *(const float *)other;
    return (a > b) - (a < b);
}

static int by_int(const void *one, const void *other) {
    const int a = *(const int *)one, b = *(const int *)other;
    return (a > b) - (a < b);
}

static int by_long(const void *one, const void *other) {
    const long a = *(const long *)one, b = *(const long *)other;
    return (a > b) - (a < b);
}

static void turn_round(char *array, size_t count, size_t width) {
    char kept[8];
    for (size_t i = 0; i < count / 2; i++) {
        char *one = array + i * width, *other = array + (count - 1 - i) * width;
        memcpy(kept, one, width), memcpy(one, other, width), memcpy(other, kept, width);
    }
}

static void sort(char type, void *array, size_t count, bool is_falling) {
    const size_t width = type == 'd' || type == 'l' ? 8 : 4;
    qsort(array, count, width, type == 'd' ? by_real : type == 'f' ? by_float : type == 'i' ? by_int : by_long);
    if (is_falling) turn_round(array, count, width);
}

static struct choice chosen(char type, const struct rule *rule) {
    struct choice once = {.most = below(2) ? LITTLE : FAR};
    once.rare = (uint64_t)1 << (2 + below(11));
    once.exponent = 1 + (int)below((uint64_t)once.most);
    if (below(2)) once.exponent = -once.exponent;
    for (int i = 0; i < FEW; i++) once.real[i] = usual_real(rule), once.whole[i] = of_any_size(type);
    return once;
}

static void fill(char type, const struct rule *rule, void *array, size_t bytes) {
    const size_t count = bytes / (type == 'd' || type == 'l' ? 8 : 4);
    const bool is_real = type == 'd' || type == 'f';
    const struct choice once = rule->letter == 'u' ? (struct choice){0} : chosen(type, rule);
    for (size_t i = 0; i < count; i++) {
        const double real = is_real ? real_within(rule, real_value(rule, &once)) : 0;
        const int64_t whole = is_real ? 0 : whole_within(rule, whole_value(type, rule, &once));
        if (type == 'd') ((double *)array)[i] = real;
        if (type == 'f') ((float *)array)[i] = (float)real;
        if (type == 'i') ((int *)array)[i] = (int)whole;
        if (type == 'l') ((long *)array)[i] = (long)whole;
    }
    if (rule->letter == 'o' || rule->letter == 'd') sort(type, array, count, rule->letter == 'd');
}

/* ---------------------------------------------------------------------------------------------------------- plan */

struct field { /* an array of a call */
    void *bytes;
    uint64_t size, kind;
    struct rule rule;
};

static struct rule rule_of(char type, const char *word) {
    struct rule rule = {.letter = word[0], .is_stated = word[1] == '!', .which = word[2]};
    char *end;
    if (rule.which != ':') return rule;
    if (type == 'd' || type == 'f')
        rule.low = strtod(word + 3, &end), rule.high = strtod(end + 1, NULL);
    else
        rule.least = strtoll(word + 3, &end, 10), rule.most = strtoll(end + 1, NULL, 10);
    return rule;
}

static void fill_all(const struct field *fields, bool usual) {
    for (int i = 0; i < maxcode_arrays; i++) {
        struct rule rule = fields[i].rule;
        if (usual) rule.letter = 'u';
        if (fields[i].kind != 1) fill(maxcode_types[i], &rule, fields[i].bytes, fields[i].size);
    }
}

/* The arrays that maxcode_fill changes keep the values that it is written for. */
static void leave_alone(struct field *fields, const long *scalars, void *const *arrays) {
    char **before = calloc((size_t)maxcode_arrays + 1, sizeof *before);
    fill_all(fields, true);
    for (int i = 0; i < maxcode_arrays; i++) {
        before[i] = malloc(fields[i].size + 1);
        memcpy(before[i], fields[i].bytes, fields[i].size);
    }
    maxcode_fill(next(&seeds), scalars, arrays);
    for (int i = 0; i < maxcode_arrays; i++) {
        if (!fields[i].rule.is_stated && memcmp(before[i], fields[i].bytes, fields[i].size)) fields[i].rule.letter = 'u';
        free(before[i]);
    }
    free(before);
}

/* What the program is told with its first word: the slots, the offset, the scalars, the bytes of the arrays. */
static void put_plan(const uint32_t plan[4], const long *scalars, const struct field *fields) {
    const uint64_t told = 2 + (uint64_t)maxcode_scalars + (uint64_t)maxcode_arrays, head[] = {told, plan[1], plan[3]};
    fwrite(plan, sizeof *plan, 4, stdout);
    for (int i = 0; i < maxcode_arrays; i++) fwrite(&fields[i].size, sizeof(uint64_t), 2, stdout);
    fwrite(head, sizeof *head, 3, stdout);
    fwrite(scalars, sizeof *scalars, (size_t)maxcode_scalars, stdout);
    for (int i = 0; i < maxcode_arrays; i++) fwrite(&fields[i].size, sizeof(uint64_t), 1, stdout);
}

static bool has_keys(void) {
    return fread(values.key, sizeof values.key, 1, stdin) == 1 && fread(seeds.key, sizeof seeds.key, 1, stdin) == 1;
}

int main(int count, char **words) {
    if (count != 4 + maxcode_scalars + 3 * maxcode_arrays || !has_keys()) return 2;
    const uint32_t plan[4] = {(uint32_t)maxcode_arrays, (uint32_t)atoi(words[2]), (uint32_t)atoi(words[1]),
                              (uint32_t)atoi(words[3])};
    long *scalars = calloc((size_t)maxcode_scalars + 1, sizeof *scalars);
    void **arrays = calloc((size_t)maxcode_arrays + 1, sizeof *arrays);
    struct field *fields = calloc((size_t)maxcode_arrays + 1, sizeof *fields);
    char **sizes = words + 4 + maxcode_scalars, **kinds = sizes + maxcode_arrays, **rules = kinds + maxcode_arrays;
    for (int i = 0; i < maxcode_scalars; i++) scalars[i] = strtol(words[4 + i], NULL, 10);
    for (int i = 0; i < maxcode_arrays; i++) {
        const uint64_t size = strtoull(sizes[i], NULL, 10);
        arrays[i] = calloc(1, size + 1);
        fields[i] = (struct field){arrays[i], size, strtoull(kinds[i], NULL, 10), rule_of(maxcode_types[i], rules[i])};
    }
    put_plan(plan, scalars, fields);
    leave_alone(fields, scalars, arrays);
    for (int i = 0; i < maxcode_arrays; i++) fputc(fields[i].rule.letter, stderr);
    const uint64_t calls = (uint64_t)plan[1] * plan[2];
    const uint64_t sure = below(calls), other = calls > 1 ? (sure + 1 + below(calls - 1)) % calls : sure;
    for (uint64_t call = 0; call < calls; call++) {
        fill_all(fields, call != sure && call != other);
        maxcode_fill(next(&seeds), scalars, arrays);
        for (int i = 0; i < maxcode_arrays; i++)
            if (fields[i].kind != 1) fwrite(arrays[i], 1, fields[i].size, stdout);
    }
    return fflush(stdout) != 0;
}
