/* How far apart two arrays are; loaded into maxcode itself by comparing.py, because Python takes 50 times as long.
 *
 * double distance_T(expected, got, count): the Euclidean norm of got - expected, of expected where got is NULL.  Numbers
 * whose squares leave the range of a double are scaled first; NaN and infinity come out as NaN or infinity.
 *
 * double worst_T(exact, got, count, scale): the largest |got - exact| / (scale + |exact|) of all elements, where exact are
 * doubles and got is of T; NaN where an element of got is NaN, and infinite where one is infinite.
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
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
