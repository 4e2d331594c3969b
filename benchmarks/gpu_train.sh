#!/bin/sh
# Training on a GPU, in steps: does a larger policy reach faster kernels with as many measurements?
#
#   benchmarks/gpu_train.sh [FOLDER]        FOLDER: default runs/gpu-train; PYTHON: default .venv/bin/python
#
# SIZES="tiny small medium large" chooses models of about 1, 10, 100 and 500 million parameters; STEPS the steps of
# GRPO of each (default 40).  The CPU cores of the same machine measure the answers.  A training run is called again
# until it has ended: each call lasts at most LIMIT seconds (default 530) and goes on from the last checkpoint.
# FOLDER/SIZE.log has the output of all calls, FOLDER/SIZE/report.html the page.  Without a GPU only SIZES=toy runs.
set -u
cd "$(dirname "$0")/.." || exit 1
out=${1:-runs/gpu-train}
python=${PYTHON:-.venv/bin/python}
limit=${LIMIT:-530}
steps=${STEPS:-40}
mkdir -p "$out"

if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then
    sizes=${SIZES:-tiny small medium large}
    dtype=bfloat16
else
    sizes=${SIZES:-toy}
    dtype=float32
    [ "$sizes" = toy ] || { echo "no GPU that torch sees: only SIZES=toy runs here"; exit 2; }
fi
vllm=
"$python" -c 'import vllm' 2>/dev/null && vllm='grpo.vllm={ mode = "colocate" }'

shape() { # SIZE: the shape of its model; heads of 64, for which attention has fast kernels
    case $1 in
    toy) echo '{ hidden = 32, layers = 2, heads = 2, vocabulary = 512 }' ;;
    tiny) echo '{ hidden = 128, layers = 6, heads = 2, vocabulary = 1024 }' ;;
    small) echo '{ hidden = 384, layers = 6, heads = 6, vocabulary = 2048 }' ;;
    medium) echo '{ hidden = 768, layers = 16, heads = 12, vocabulary = 4096 }' ;;
    large) echo '{ hidden = 1536, layers = 18, heads = 24, vocabulary = 8192 }' ;;
    *) echo "unknown size $1" >&2; exit 1 ;;
    esac
}

failed=0
for size in $sizes; do
    model=$(shape "$size") || exit 1
    set -- --set "model.scratch=$model" --set "model.dtype='$dtype'" --set "grpo.steps=$steps" --out "$out/$size"
    [ "$size" = toy ] && set -- "$@" --set corpus.kernels=200 --set pretrain.steps=5 --set assess.samples=4
    [ -n "$vllm" ] && set -- "$@" --set "$vllm"
    status=124
    while [ "$status" = 124 ]; do
        begun=$(date +%s)
        timeout --signal=INT --kill-after=60 "$limit" "$python" -m maxcode train grpo configs/scratch-large.toml "$@" \
            >>"$out/$size.log" 2>&1
        status=$?
        echo "status $status  $size ($(($(date +%s) - begun)) s): $(tail -n 1 "$out/$size.log" | cut -c 1-100)"
        [ -n "${ONCE:-}" ] && break
    done
    [ "$status" = 0 ] || failed=1
done
exit "$failed"
