#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# history.sh [FROM]: commits since FROM, else since the last tag, else since the commit that brought the formatter, have a
# subject `area: imperative` of at most 72 characters without a full stop, and a body. Where there is no history (an archive,
# a shallow clone that lacks the beginning) there is nothing to check: status 77, which ctest reads as skipped.
cd "$(dirname "$0")/../.." || exit 2
failed=0
start=9fff9fc # style: one run of clang-format 14 over all C files

git rev-parse --git-dir >/dev/null 2>&1 || {
    echo "history: no repository here"
    exit 77
}
from=${1:-$(git describe --tags --abbrev=0 2>/dev/null || echo $start)}
git rev-parse --verify --quiet "$from^{commit}" >/dev/null || {
    echo "history: $from is not here"
    exit 77
}

# complain COMMIT WHAT
complain() {
    echo "$(git log -1 --format='%h %s' "$1")  <- $2"
    failed=1
}

for commit in $(git rev-list --no-merges "$from..HEAD"); do
    subject=$(git log -1 --format=%s "$commit")
    [ "$(printf %s "$subject" | wc -m)" -le 72 ] || complain "$commit" 'more than 72 characters'
    case $subject in *.) complain "$commit" 'a full stop at the end' ;; esac
    printf '%s\n' "$subject" | grep -qE '^[a-z0-9_/.,+ -]+: [^ ]' || complain "$commit" "not 'area: imperative'"
    [ -n "$(git log -1 --format=%b "$commit" | tr -d '[:space:]')" ] || complain "$commit" 'no body that says why'
done
[ $failed -ne 0 ] || echo "history: $(git rev-list --count --no-merges "$from..HEAD") commits since $from, nothing found"
exit $failed
