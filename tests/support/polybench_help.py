"""Kernels of our own writing in the layout of PolyBench/C: its macros and its files, none of its text."""

from __future__ import annotations

from pathlib import Path

HEADER = """#ifndef _{upper}_H
# define _{upper}_H
# if !defined({first})
#  ifdef MINI_DATASET
{mini}
#  endif
#  ifdef MEDIUM_DATASET
{medium}
#  endif
#  ifdef EXTRALARGE_DATASET
{huge}
#  endif
# endif
{bounds}
# if !defined(DATA_TYPE_IS_INT) && !defined(DATA_TYPE_IS_FLOAT) && !defined(DATA_TYPE_IS_DOUBLE)
#  define DATA_TYPE_IS_{ctype}
# endif
#ifdef DATA_TYPE_IS_DOUBLE
#  define DATA_TYPE double
#  define SCALAR_VAL(x) x
#endif
#endif
"""

# C = beta C + alpha A B, a row at a time through `row`
GEMM = """#include <math.h>
#include <polybench.h>
#include "gemm.h"

static
void print_array(int ni, int nj,
                 DATA_TYPE POLYBENCH_2D(C,NI,NJ,ni,nj))
{
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++)
      fprintf(stderr, "%f", C[i][j]);
}

static
void kernel_gemm(int ni, int nj, int nk,
                 DATA_TYPE alpha, DATA_TYPE beta,
                 DATA_TYPE POLYBENCH_2D(C,NI,NJ,ni,nj),
                 DATA_TYPE POLYBENCH_2D(A,NI,NK,ni,nk),
                 DATA_TYPE POLYBENCH_2D(B,NK,NJ,nk,nj),
                 DATA_TYPE POLYBENCH_1D(row,NJ,nj))
{
  int i, j, k;
  int last;

#pragma scop
  for (i = 0; i < _PB_NI; i++) {
    for (j = 0; j < _PB_NJ; j++) {
      row[j] = SCALAR_VAL(0.0);
      for (k = 0; k <= _PB_NK - 1; k++)
        row[j] += A[i][k] * B[(k)][j]; /* slowly */
    }
    last = i;
    for (j = NJ-1; j >= 0; j--)
      C[last][j] = C[i][j] * beta - SCALAR_VAL(-1.0) * alpha * row[j];
  }
#pragma endscop
}

int main(void)
{
  kernel_gemm(NI, NJ, NK, 1.5, 1.2, 0, 0, 0, 0);
}
"""

# how often a cell's neighbours in a box are of its kind
NUSSINOV = """#include "nussinov.h"
typedef char base;
#define same(a, b) ((a) == (b) ? 1 : 0)
#define unused(a) a

static
void print_array(int n, DATA_TYPE POLYBENCH_2D(table,N,N,n,n))
{
  print(table[0][0]);
}

static
void kernel_nussinov(int n, base POLYBENCH_1D(seq,N,n), DATA_TYPE POLYBENCH_2D(table,N,N,n,n))
{
  int i, j;
  for (i = 0; i < N; i++)
    for (j = 0; j < _PB_N; j++)
      table[i][j] += same(seq[i], seq[j]);
}
"""

# an average of cubes
HEAT = """#include "heat-3d.h"
static void print_array(int n, DATA_TYPE POLYBENCH_3D(A,N,N,N,n,n,n)) { print(A[0][0][0]); }
static void kernel_heat_3d(int tsteps, int n,
  DATA_TYPE POLYBENCH_3D(A,N,N,N,n,n,n), DATA_TYPE POLYBENCH_3D(B,N,N,N,n,n,n))
{
  int t, i, j, k;
  for (t = 0; t < TSTEPS; t++)
    for (i = 1; i < _PB_N; i++)
      for (j = 1; j < _PB_N; j++)
        for (k = 1; k < _PB_N; k++)
          A[i-1][j][k] = SCALAR_VAL(0.5) * (B[i][j-1][k] + SQRT_FUN(B[i][j][k-1] * B[i][j][k-1]));
}
"""


def header(name: str, ctype: str = "DOUBLE", **sizes: tuple[int, int, int]) -> str:
    """NAME.h: macro -> its sizes in the sets MINI, MEDIUM and EXTRALARGE; its variable is the same in lower case."""
    sets = ["\n".join(f"#   define {macro} {values[which]}" for macro, values in sizes.items()) for which in range(3)]
    return HEADER.format(
        upper=name.upper().replace("-", "_"),
        first=next(iter(sizes)),
        mini=sets[0],
        medium=sets[1],
        huge=sets[2],
        bounds="\n".join(f"# define _PB_{macro} POLYBENCH_LOOP_BOUND({macro},{macro.lower()})" for macro in sizes),
        ctype=ctype,
    )


def write_kernel(top: Path, name: str, text: str, head: str) -> Path:
    folder = top / "linear-algebra" / "blas" / name
    folder.mkdir(parents=True)
    (folder / f"{name}.c").write_text(text)
    (folder / f"{name}.h").write_text(head)
    return folder


def library(top: Path) -> Path:
    """A folder of PolyBench/C with three kernels, and other files of C."""
    (top / "utilities").mkdir(parents=True)
    (top / "utilities" / "polybench.c").write_text("int main(void) { return 0; }\n")
    write_kernel(top, "gemm", GEMM, header("gemm", NI=(20, 60, 9000), NJ=(25, 70, 9000), NK=(30, 80, 9000)))
    write_kernel(top, "nussinov", NUSSINOV, header("nussinov", "INT", N=(60, 500, 5500)))
    write_kernel(top, "heat-3d", HEAT, header("heat-3d", TSTEPS=(20, 100, 1000), N=(10, 40, 200)))
    return top
