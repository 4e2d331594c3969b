#!/bin/sh
# Races the base of a change against its head in any CI.  It is set up by environment variables:
#
#   MAXCODE_BASE, MAXCODE_HEAD   the revisions or folders; MAXCODE_HEAD is HEAD if it is not set.  The base is what the
#                                change starts from: $(git merge-base origin/main HEAD), not origin/main, which moves
#   MAXCODE_COMMAND              the benchmark, a shell command that starts in the side
#   MAXCODE_BUILD, MAXCODE_SETUP, MAXCODE_READ, MAXCODE_GOAL, MAXCODE_MARGIN, MAXCODE_PAIRS, MAXCODE_SECONDS,
#   MAXCODE_STDIN, MAXCODE_OUT, MAXCODE_FAIL_ON
#                                --build, --setup, --read, --goal, --margin, --pairs, --max-seconds, --stdin, --out,
#                                --fail-on
#   MAXCODE_SHOW                 --show, one folder a line
#   MAXCODE_SAME_OUTPUT, MAXCODE_TRUST_BOTH   true: --same-output, --trust-both
#   MAXCODE_MARKDOWN             a file for the summary; MAXCODE_JSON: a file for the result
#   MAXCODE                      how maxcode is started; `maxcode` if it is not set
#
# The exit status is that of `maxcode race`: 1 if the result is one of MAXCODE_FAIL_ON.  Sides that are the same are no
# error here: the verdict is "nothing differs".
set -eu
base=${MAXCODE_BASE:?set MAXCODE_BASE to a revision or a folder}
command=${MAXCODE_COMMAND:?set MAXCODE_COMMAND to the benchmark}
head=${MAXCODE_HEAD:-HEAD}
set -- --allow-equal "$base" "$head" -- sh -c "$command"
if [ "${MAXCODE_TRUST_BOTH:-}" = true ]; then set -- --trust-both "$@"; fi
if [ "${MAXCODE_SAME_OUTPUT:-}" = true ]; then set -- --same-output "$@"; fi
if [ -n "${MAXCODE_BUILD:-}" ]; then set -- --build "$MAXCODE_BUILD" "$@"; fi
if [ -n "${MAXCODE_SETUP:-}" ]; then set -- --setup "$MAXCODE_SETUP" "$@"; fi
if [ -n "${MAXCODE_READ:-}" ]; then set -- --read "$MAXCODE_READ" "$@"; fi
if [ -n "${MAXCODE_GOAL:-}" ]; then set -- --goal "$MAXCODE_GOAL" "$@"; fi
if [ -n "${MAXCODE_MARGIN:-}" ]; then set -- --margin "$MAXCODE_MARGIN" "$@"; fi
if [ -n "${MAXCODE_PAIRS:-}" ]; then set -- --pairs "$MAXCODE_PAIRS" "$@"; fi
if [ -n "${MAXCODE_SECONDS:-}" ]; then set -- --max-seconds "$MAXCODE_SECONDS" "$@"; fi
if [ -n "${MAXCODE_STDIN:-}" ]; then set -- --stdin "$MAXCODE_STDIN" "$@"; fi
if [ -n "${MAXCODE_OUT:-}" ]; then set -- --out "$MAXCODE_OUT" "$@"; fi
if [ -n "${MAXCODE_MARKDOWN:-}" ]; then set -- --markdown "$MAXCODE_MARKDOWN" "$@"; fi
if [ -n "${MAXCODE_FAIL_ON:-}" ]; then set -- --fail-on "$MAXCODE_FAIL_ON" "$@"; fi
while IFS= read -r folder; do
  if [ -n "$folder" ]; then set -- --show "$folder" "$@"; fi
done <<FOLDERS
${MAXCODE_SHOW:-}
FOLDERS
if [ -n "${MAXCODE_JSON:-}" ]; then exec ${MAXCODE:-maxcode} race --json "$@" >"$MAXCODE_JSON"; fi
exec ${MAXCODE:-maxcode} race "$@"
