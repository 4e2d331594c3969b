#!/bin/sh
# The first day on a machine with a GPU: everything of maxcode that has not run for want of one, in steps.
#
#   benchmarks/gpu_first.sh [FOLDER]        FOLDER: default runs/gpu-first; PYTHON: default .venv/bin/python
#
# Each step ends within nine minutes (LIMIT, in seconds) and leaves FOLDER/STEP.log and FOLDER/STEP.status, its exit
# status.  The same command again goes on: a step with status 0 is not repeated.  Set MAXCODE_KERNELBENCH to a checkout
# of KernelBench for its problems.  Without a GPU the steps that need none run, and the exit status is 2.
set -u
cd "$(dirname "$0")/.." || exit 1
out=${1:-runs/gpu-first}
python=${PYTHON:-.venv/bin/python}
limit=${LIMIT:-530}
failed=0
mkdir -p "$out"

step() { # NAME COMMAND...
    name=$1
    shift
    if [ "$(cat "$out/$name.status" 2>/dev/null)" = 0 ]; then
        echo "done      $name"
        return
    fi
    begun=$(date +%s)
    timeout --signal=INT --kill-after=20 "$limit" "$@" >"$out/$name.log" 2>&1
    status=$?
    echo "$status" >"$out/$name.status"
    [ "$status" = 0 ] || failed=1
    echo "status $status  $name ($(($(date +%s) - begun)) s): $(tail -n 1 "$out/$name.log" | cut -c 1-100)"
}

step doctor "$python" -m maxcode doctor
step without_a_gpu "$python" -m pytest -q tests/evaluate/test_cuda_without_gpu.py
step compiled "$python" -m pytest -q tests/evaluate/test_cuda.py -k "compile or says_what or five_problems or clocks"
if ! "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then
    echo "no GPU that torch sees: the other steps need one"
    exit 2
fi

nvidia-smi >"$out/nvidia-smi.txt" 2>&1
gallery() { # NAME JOBS CANDIDATES...: one admission, JOBS candidates side by side; few, as a step must end in time
    name=$1 jobs=$2
    shift 2
    step "gallery-$name" "$python" benchmarks/cuda.py gallery --jobs "$jobs" --only "$@" --out "$out/gallery-$name"
}
gallery plain 3 honest_as_it_is honest_graph honest_stream
gallery kernels 2 honest_native honest_triton
gallery inline 1 honest_inline
gallery outputs 4 half_of_the_rows half_precision tf32 lazy_tensor
gallery places 3 output_on_the_host stale_memory ignored_weights
gallery kept 3 changed_inputs kept_by_pointer kept_by_shape
gallery caches 3 kept_in_l2 one_buffer_for_all stale_graph
gallery clocks 1 side_stream patched_copy patched_events
gallery memory 1 hog_left_behind takes_all_memory
step known "$python" benchmarks/cuda.py known --out "$out/known"
for one in benchmarks/cuda_pairs/*/; do
    name=$(basename "$one")
    step "pair-$name" "$python" benchmarks/cuda.py pairs --only "$name" --out "$out/pair-$name"
done

# The reference as its own candidate: correct, and not faster.
if [ -n "${MAXCODE_KERNELBENCH:-}" ]; then
    for problem in 1/1 1/19 1/23 1/26 1/36 2/9 2/14 2/33 2/59 2/63; do
        step "kernelbench-$(echo "$problem" | tr / -)" "$python" benchmarks/cuda.py kernelbench --only "$problem" \
            --out "$out/kernelbench-$(echo "$problem" | tr / -)"
    done
else
    echo "left out  kernelbench: set MAXCODE_KERNELBENCH"
fi
for part in 1 2 3 4; do
    step "equal-$part" "$python" benchmarks/cuda.py equal --races 50 --out "$out/equal-$part"
done
step tests "$python" -m pytest -q tests/evaluate/test_cuda.py
exit "$failed"
