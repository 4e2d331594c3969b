/* How far apart two arrays are; loaded into maxcode itself by comparing.py, because Python takes 50 times as long.
 *
 * double distance_T(expected, got, count): the Euclidean norm of got - expected, of expected where got is NULL.  Numbers
 * whose squares leave the range of a double are scaled first; NaN and infinity come out as NaN or infinity.
 *
 * double worst_T(exact, got, count, scale): the largest |got - exact| / (scale + |exact|) of all elements, where exact are
 * doubles and got is of T; NaN where an element of got is NaN, and infinite where one is infinite.
 *
 * size_t beyond_T(exact, got, count, scale, bound): the elements of which that is more than a bound.
 *
 * size_t lost_T(exact, reference, got, count, least): the elements of at least that size that got has wrong by half of their
 * own size and more, and reference right to a thousandth of it.  exact are doubles.
 *
 * size_t unequal_T(exact, reference, got, count): the whole numbers that are exact in reference, and others in got.  exact
 * are doubles.
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DISTANCE(type)                                                                                        \
    static double apart_##type(const char *expected, const char *got, size_t i) {                             \
        type want, have = 0;                                                                                  \
        memcpy(&want, expected + i * sizeof want, sizeof want);                                               \
        if (got) memcpy(&have, got + i * sizeof have, sizeof have);                                           \
        return (double)have - (double)want;                                                                   \
    }                                                                                                         \
    static double scaled_##type(const char *expected, const char *got, size_t count, double scale) {          \
        double sum = 0;                                                                                       \
        for (size_t i = 0; i < count; i++) {                                                                  \
            const double apart = apart_##type(expected, got, i) / scale;                                      \
            sum += apart * apart;                                                                             \
        }                                                                                                     \
        return scale * sqrt(sum);                                                                   \
    }                                                                                                         \
    double distance_##type(const char *expected, const char *got, size_t count) {                             \
        const double plain = scaled_##type(expected, got, count, 1);                                          \
        if (plain > 1e-140 && plain < 1e140) return plain;                                                    \
        double most = 0;                                                                                      \
        for (size_t i = 0; i < count; i++) {                                                                  \
            const double apart = fabs(apart_##type(expected, got, i));                              \
            if (!(apart <= most)) most = apart;                                                               \
        }                                                                                                     \
        return most > 0 && most <= DBL_MAX ? scaled_##type(expected, got, count, most) : plain;               \
    }

DISTANCE(double)
DISTANCE(float)
DISTANCE(int)
DISTANCE(long)

#define WORST(type)                                                                            \
    double worst_##type(const char *exact, const char *got, size_t count, double scale) {      \
        double worst = 0;                                                                      \
        for (size_t i = 0; i < count; i++) {                                                   \
            double want;                                                                       \
            type have;                                                                         \
            memcpy(&want, exact + i * sizeof want, sizeof want);                               \
            memcpy(&have, got + i * sizeof have, sizeof have);                                 \
            const double error = fabs((double)have - want) / (scale + fabs(want));             \
            if (!(error <= worst)) worst = error;                                              \
            if (worst != worst) return worst;                                                  \
        }                                                                                      \
        return worst;                                                                          \
    }

WORST(double)
WORST(float)
WORST(int)
WORST(long)

#define BEYOND(type)                                                                                         \
    size_t beyond_##type(const char *exact, const char *got, size_t count, double scale, double bound) {     \
        size_t beyond = 0;                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                                 \
            double want;                                                                                     \
            type have;                                                                                       \
            memcpy(&want, exact + i * sizeof want, sizeof want);                                             \
            memcpy(&have, got + i * sizeof have, sizeof have);                                               \
            beyond += !(fabs((double)have - want) <= bound * (scale + fabs(want)));                          \
        }                                                                                                    \
        return beyond;                                                                                       \
    }

BEYOND(double)
BEYOND(float)
BEYOND(int)
BEYOND(long)

#define LOST(type)                                                                                                 \
    size_t lost_##type(const char *exact, const char *reference, const char *got, size_t count, double least) {    \
        size_t lost = 0;                                                                                           \
        for (size_t i = 0; i < count; i++) {                                                                       \
            double want;                                                                                           \
            type right, have;                                                                                      \
            memcpy(&want, exact + i * sizeof want, sizeof want);                                                   \
            memcpy(&right, reference + i * sizeof right, sizeof right);                                            \
            memcpy(&have, got + i * sizeof have, sizeof have);                                                     \
            const double size = fabs(want);                                                                        \
            lost += size >= least && fabs((double)right - want) <= size / 1000 && fabs((double)have - want) >= size / 2; \
        }                                                                                                          \
        return lost;                                                                                               \
    }

LOST(double)
LOST(float)

#define UNEQUAL(type)                                                                                   \
    size_t unequal_##type(const char *exact, const char *reference, const char *got, size_t count) {    \
        size_t unequal = 0;                                                                             \
        for (size_t i = 0; i < count; i++) {                                                            \
            double want;                                                                                \
            type right, have;                                                                           \
            memcpy(&want, exact + i * sizeof want, sizeof want);                                        \
            memcpy(&right, reference + i * sizeof right, sizeof right);                                 \
            memcpy(&have, got + i * sizeof have, sizeof have);                                          \
            unequal += (double)right == want && have != right;                                          \
        }                                                                                               \
        return unequal;                                                                                 \
    }

UNEQUAL(int)
UNEQUAL(long)

/* double beside_T(exact, got, count, width, rule): the largest |got - exact| / (scale + |exact|), where scale is rule[0], but
 * at most the larger of rule[1] and rule[2] times the element's own size: of `width` elements in a row, that is their norm.
 * exact are doubles and got is of T; NaN or infinite where an element of got is.
 */
#define BESIDE(type)                                                                                               \
    double beside_##type(const char *exact, const char *got, size_t count, size_t width, const double *rule) {     \
        double worst = 0;                                                                                          \
        for (size_t i = 0; i < count; i++) {                                                                       \
            double want, first, last;                                                                              \
            type have;                                                                                             \
            memcpy(&want, exact + i * sizeof want, sizeof want);                                                   \
            memcpy(&have, got + i * sizeof have, sizeof have);                                                     \
            memcpy(&first, exact + i / width * width * sizeof first, sizeof first);                                \
            memcpy(&last, exact + (i / width * width + width - 1) * sizeof last, sizeof last);                     \
            const double own = width > 1 ? hypot(first, last) : fabs(want);                                        \
            const double scale = fmin(rule[0], fmax(rule[1], rule[2] * own));                                      \
            const double error = fabs((double)have - want) / (scale + fabs(want));                                 \
            if (!(error <= worst)) worst = error;                                                                  \
            if (worst != worst) return worst;                                                                      \
        }                                                                                                          \
        return worst;                                                                                              \
    }

BESIDE(double)
BESIDE(float)

/* long odd_T(want, got, near, nears, count, rule): the first element of got that is further from want than rule allows,
 * -1 where none is.  rule: a share of |want|; how often the farthest that the nears lie from want; something in any case.
 */
#define ODD(type)                                                                                                  \
    long odd_##type(const char *want, const char *got, const char *const *near, size_t nears, size_t count,        \
                    const double *rule) {                                                                          \
        for (size_t i = 0; i < count; i++) {                                                                       \
            const double apart = fabs(apart_##type(want, got, i));                                                 \
            double allowed = rule[0] * fabs(apart_##type(want, NULL, i)) + rule[2], most = 0;                      \
            if (apart <= allowed) continue;                                                                        \
            for (size_t j = 0; j < nears; j++) {                                                                   \
                const double moved = fabs(apart_##type(want, near[j], i));                                         \
                if (!(moved <= most)) most = moved == moved ? moved : INFINITY;                                    \
            }                                                                                                      \
            allowed += rule[1] * most;                                                                             \
            if (!(apart <= allowed)) return (long)i;                                                               \
        }                                                                                                          \
        return -1;                                                                                                 \
    }

ODD(double)
ODD(float)

/* void nudge_T(values, count, share, seed): makes every number smaller by a random share of it, `share` at most. */
#define NUDGE(type)                                                                       \
    void nudge_##type(char *values, size_t count, double share, uint64_t seed) {          \
        for (size_t i = 0; i < count; i++) {                                              \
            type value;                                                                   \
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;                    \
            memcpy(&value, values + i * sizeof value, sizeof value);                      \
            const double unit = (double)(seed >> 11) * 0x1p-53;                           \
            value = (type)((double)value * (1 - share * unit));                           \
            memcpy(values + i * sizeof value, &value, sizeof value);                      \
        }                                                                                 \
    }

NUDGE(double)
NUDGE(float)
