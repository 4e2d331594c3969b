/* Prints the plan and the inputs of calls (shim_calls.h); compiled with the user's inputs.c, run in the sandbox.
 *
 *   generator ROUNDS SLOTS OFFSET UNUSUAL FIRST BITS SCALAR... BYTES... KIND... VALUES...
 *
 * Standard input: two keys of 32 bytes, one of the values, one of the seeds that maxcode_fill is given (stream.h).
 *
 * VALUES, a word for each array: a letter of how values are drawn, '!' where the problem itself says what values there
 * may be and '-' elsewhere, then which: '*' any, '+' above 0, '0' not below 0, ':LOW,HIGH' both included.  The letter u
 * is the usual way: uniform in [-1, 1), whole numbers of -999 to 999, or within LOW and HIGH.  habits.py explains the
 * other letters; where there is another one, UNUSUAL of the calls are drawn by it, none of the first FIRST ones, which of
 * the others a coin says, and the rest the usual way.  The letter a: made of an earlier array.  An array that
 * maxcode_fill changes is drawn the usual way before, unless its word has a '!': if maxcode_fill writes all of it, it is
 * drawn by its letter afterwards.  Whole numbers of any size have BITS bits at most, where that is not 0.  Standard
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

#include "stream.h"

static struct stream values, seeds;

static uint64_t below(uint64_t limit) { return next(&values) % limit; }

/* -------------------------------------------------------------------------------------------------------- values */

enum { FEW = 4, LITTLE = 4, FAR = 30 }; /* values of an array of repeats; exponents, of which half are little */
enum { GRID = 257 };                     /* multiples of 1/32, from -4 to 4 */

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
    uint64_t rare; /* one value in so many is unlike the others */
    double real[FEW];
    int64_t whole[FEW];
};

/* Of one call alone: sums over very far values lose digits that honest programs may lose elsewhere. */
static bool may_be_very_far;

static int most_bits; /* of whole numbers, 0: those of their type */

static int64_t of_any_size(char type) {
    const int width = type == 'l' ? 63 : 31, bits = most_bits && most_bits < width ? most_bits : width;
    return (int64_t)next(&values) >> (63 - bits) >> below((uint64_t)bits);
}

static int64_t not_negative(int64_t whole, int64_t most) {
    if (!most_bits) return whole & most;
    return whole < 0 ? -(whole + 1) : whole;
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
    default: return usual;
    }
}

static int64_t whole_value(char type, const struct rule *rule, const struct choice *once) {
    const int64_t most = type == 'l' ? INT64_MAX : INT32_MAX;
    switch (rule->letter) {
    case 'f': return type == 'l' ? (int64_t)next(&values) : (int32_t)next(&values);
    case 's': case 'w': case 'o': case 'd': return of_any_size(type);
    case 'p': return not_negative(of_any_size(type), most);
    case 'n': return -not_negative(of_any_size(type), most);
    case 'z': return below(2) ? 0 : usual_whole(rule);
    case 'r': return once->whole[below(FEW)];
    case 'c': return once->whole[0];
    case 'i': return (int64_t)below(7) - 3;
    case 'e': return edge_whole(type, rule);
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

static void put_real(char type, void *array, size_t i, double value) {
    if (type == 'd')
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

static void put_whole(char type, void *array, size_t i, int64_t value) {
    if (type == 'i')
        ((int *)array)[i] = (int)value;
    else
        ((long *)array)[i] = (long)value;
}

static bool is_real(char type) { return type == 'd' || type == 'f'; }

static double real_at(char type, const void *array, size_t i) {
    return type == 'd' ? ((const double *)array)[i] : ((const float *)array)[i];
}

static int64_t whole_at(char type, const void *array, size_t i) {
    return type == 'i' ? ((const int *)array)[i] : ((const long *)array)[i];
}

/* What stands at one of a few places where the other values are as usual. */
static double unlike_real(char type, const struct rule *rule, const struct choice *once, const void *array, size_t count) {
    const double other = real_at(type, array, below(count));
    switch (rule->letter) {
    case 'k': return 0;
    case 'y': return other;
    case 'm': return -other;
    case 'v': return edge_real(rule, once);
    default: return ldexp(below(2) ? -usual_real(rule) : usual_real(rule), abs(once->exponent));
    }
}

static int64_t unlike_whole(char type, const struct rule *rule, const void *array, size_t count) {
    const int64_t other = whole_at(type, array, below(count));
    switch (rule->letter) {
    case 'k': return 0;
    case 'y': return other;
    case 'm': return (int64_t)(0 - (uint64_t)other);
    case 'v': return edge_whole(type, rule);
    default: return of_any_size(type);
    }
}

static bool is_of_few(char letter) { return strchr("lkymv", letter) != NULL; }

/* Puts multiples of 1/32 among the usual values, none of them twice: where answers jump, and no two numbers are the same. */
static void put_grid(char type, const struct rule *rule, void *array, size_t count) {
    const uint64_t first = below(GRID);
    for (uint64_t i = 0; i < GRID && i < count && is_real(type); i++) {
        const double value = ((double)((first + i) % GRID) - GRID / 2) / 32;
        put_real(type, array, below(count), real_within(rule, value));
    }
}

/* Changes one of the usual values, or a few, of which no look at some places tells. */
static void change(char type, const struct rule *rule, void *array, size_t count, bool is_alone) {
    struct choice once = chosen(type, rule);
    if (rule->letter == 'v' || !may_be_very_far) once.exponent %= 1 + LITTLE;
    const size_t sure = count ? below(count) : 0;
    for (size_t i = 0; i < count; i++) {
        if (i != sure && (is_alone || below(once.rare))) continue;
        if (is_real(type))
            put_real(type, array, i, real_within(rule, unlike_real(type, rule, &once, array, count)));
        else
            put_whole(type, array, i, whole_within(rule, unlike_whole(type, rule, array, count)));
    }
}

static void fill(char type, const struct rule *rule, void *array, size_t bytes, bool is_alone) {
    const size_t count = bytes / (type == 'd' || type == 'l' ? 8 : 4);
    const struct choice once = rule->letter == 'u' ? (struct choice){0} : chosen(type, rule);
    for (size_t i = 0; i < count; i++) {
        if (is_real(type))
            put_real(type, array, i, real_within(rule, real_value(rule, &once)));
        else
            put_whole(type, array, i, whole_within(rule, whole_value(type, rule, &once)));
    }
    if (rule->letter == 'o' || rule->letter == 'd') sort(type, array, count, rule->letter == 'd');
    if (rule->letter == 'g') put_grid(type, rule, array, count);
    if (is_of_few(rule->letter)) change(type, rule, array, count, is_alone);
}

/* ---------------------------------------------------------------------------------------------------------- plan */

struct field { /* an array of a call */
    void *bytes;
    uint64_t size, kind;
    struct rule rule;
    bool is_after; /* drawn after maxcode_fill, which would write over all of it */
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

enum how { USUAL, SEVERAL, ALONE }; /* ALONE: one value where a few are unlike the others */

/* Changes a value, or two whole numbers by bits that they exchange: their sum and their exclusive or stay. */
static void change_taken(char type, const struct rule *rule, void *array, size_t count) {
    const size_t i = below(count), j = below(count);
    if (is_real(type)) {
        put_real(type, array, i, usual_real(rule));
    } else if (below(2)) {
        put_whole(type, array, i, usual_whole(rule));
    } else {
        const int64_t one = whole_at(type, array, i), other = whole_at(type, array, j);
        const int64_t bits = (one ^ other) & ((int64_t)next(&values) >> below(62));
        put_whole(type, array, i, whole_within(rule, one ^ bits));
        put_whole(type, array, j, whole_within(rule, other ^ bits));
    }
}

/* Puts the values of an earlier array of the same type into an array, as usual where there is none: in their order from
 * any place on, or in any order; where one value would be unlike the others, one or two of them are other ones. */
static void take(const struct field *fields, int which, bool is_changed) {
    const char type = maxcode_types[which];
    const struct rule *rule = &fields[which].rule;
    const size_t width = type == 'd' || type == 'l' ? 8 : 4, count = fields[which].size / width;
    char *array = fields[which].bytes, kept[8];
    int from = which - 1;
    while (from >= 0 && (maxcode_types[from] != type || fields[from].kind == 1 || fields[from].size < width)) from--;
    if (from < 0 || !count) return;
    const size_t given = fields[from].size / width, first = below(3) ? 0 : below(given);
    for (size_t i = 0; i < count; i++) memcpy(array + i * width, (char *)fields[from].bytes + (first + i) % given * width, width);
    for (size_t i = count - 1, is_any = !below(4); i && is_any; i--) {
        char *one = array + i * width, *other = array + below(i + 1) * width;
        memcpy(kept, one, width), memmove(one, other, width), memcpy(other, kept, width);
    }
    for (size_t i = 0; i < count && is_real(type); i++) put_real(type, array, i, real_within(rule, real_at(type, array, i)));
    for (size_t i = 0; i < count && !is_real(type); i++) put_whole(type, array, i, whole_within(rule, whole_at(type, array, i)));
    if (is_changed) change_taken(type, rule, array, count);
}

static void fill_one(const struct field *fields, int which, enum how how) {
    const struct field *field = &fields[which];
    struct rule rule = field->rule;
    if (how == USUAL) rule.letter = 'u';
    if (field->kind != 1) fill(maxcode_types[which], &rule, field->bytes, field->size, how == ALONE);
    if (field->kind != 1 && rule.letter == 'a') take(fields, which, how == ALONE);
}

static void fill_all(const struct field *fields, enum how how) {
    for (int i = 0; i < maxcode_arrays; i++) fill_one(fields, i, how);
}

static void fill_after(const struct field *fields, enum how how) {
    for (int i = 0; i < maxcode_arrays; i++)
        if (fields[i].is_after) fill_one(fields, i, how);
}

static char *copy_of(const struct field *field) {
    char *copy = malloc(field->size + 1);
    return memcpy(copy, field->bytes, field->size);
}

/* Whether maxcode_fill writes the same into an array whatever stands there, and in the others what stands there now. */
static bool is_all_written(const struct field *fields, int which, const long *scalars, void *const *arrays) {
    char **before = calloc((size_t)maxcode_arrays, sizeof *before), *found[2];
    const uint64_t seed = next(&seeds);
    for (int i = 0; i < maxcode_arrays; i++) before[i] = copy_of(&fields[i]);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < maxcode_arrays; i++) memcpy(fields[i].bytes, before[i], fields[i].size);
        fill_one(fields, which, USUAL);
        maxcode_fill(seed, scalars, arrays);
        found[turn] = copy_of(&fields[which]);
    }
    const bool is_same = !memcmp(found[0], found[1], fields[which].size);
    for (int i = 0; i < maxcode_arrays; i++) free(before[i]);
    free(before), free(found[0]), free(found[1]);
    return is_same;
}

/* The arrays that maxcode_fill changes keep the values that it is written for, unless the problem itself says which. */
static void leave_alone(struct field *fields, const long *scalars, void *const *arrays) {
    char **before = calloc((size_t)maxcode_arrays + 1, sizeof *before);
    fill_all(fields, USUAL);
    for (int i = 0; i < maxcode_arrays; i++) before[i] = copy_of(&fields[i]);
    maxcode_fill(next(&seeds), scalars, arrays);
    for (int i = 0; i < maxcode_arrays; i++) {
        if (!fields[i].rule.is_stated && memcmp(before[i], fields[i].bytes, fields[i].size)) fields[i].rule.letter = 'u';
        free(before[i]);
    }
    free(before);
    for (int i = 0; i < maxcode_arrays; i++)
        if (fields[i].rule.is_stated && fields[i].rule.letter != 'u' && fields[i].kind != 1)
            fields[i].is_after = is_all_written(fields, i, scalars, arrays);
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
    if (count != 7 + maxcode_scalars + 3 * maxcode_arrays || !has_keys()) return 2;
    const uint32_t plan[4] = {(uint32_t)maxcode_arrays, (uint32_t)atoi(words[2]), (uint32_t)atoi(words[1]),
                              (uint32_t)atoi(words[3])};
    long *scalars = calloc((size_t)maxcode_scalars + 1, sizeof *scalars);
    void **arrays = calloc((size_t)maxcode_arrays + 1, sizeof *arrays);
    struct field *fields = calloc((size_t)maxcode_arrays + 1, sizeof *fields);
    char **sizes = words + 7 + maxcode_scalars, **kinds = sizes + maxcode_arrays, **rules = kinds + maxcode_arrays;
    for (int i = 0; i < maxcode_scalars; i++) scalars[i] = strtol(words[7 + i], NULL, 10);
    for (int i = 0; i < maxcode_arrays; i++) {
        const uint64_t size = strtoull(sizes[i], NULL, 10);
        arrays[i] = calloc(1, size + 1);
        fields[i] = (struct field){
            arrays[i], size, strtoull(kinds[i], NULL, 10), rule_of(maxcode_types[i], rules[i]), false};
    }
    most_bits = atoi(words[6]);
    put_plan(plan, scalars, fields);
    leave_alone(fields, scalars, arrays);
    for (int i = 0; i < maxcode_arrays; i++) fputc(fields[i].rule.letter, stderr);
    const uint64_t calls = (uint64_t)plan[1] * plan[2], first = strtoull(words[5], NULL, 10);
    uint64_t left = strtoull(words[4], NULL, 10);
    bool is_alone = below(2), was_far = false;
    if (left > calls - first) left = calls - first;
    for (uint64_t call = 0; call < calls; call++) {
        const bool is_usual = call < first || below(calls - call) >= left;
        const enum how how = is_usual ? USUAL : is_alone ? ALONE : SEVERAL;
        may_be_very_far = how == ALONE && !was_far;
        was_far |= may_be_very_far;
        if (!is_usual) left--, is_alone = !is_alone;
        fill_all(fields, how);
        maxcode_fill(next(&seeds), scalars, arrays);
        if (!is_usual) fill_after(fields, how);
        for (int i = 0; i < maxcode_arrays; i++)
            if (fields[i].kind != 1) fwrite(arrays[i], 1, fields[i].size, stdout);
    }
    return fflush(stdout) != 0;
}
