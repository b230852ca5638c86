#!/usr/bin/env bash
# pictures_test.sh PROGRAM: scripts/pictures still makes every picture of docs/pictures.md that needs no large model; those that are
# committed are all there, none is larger than 200 KB, and together they have at most 2 MB.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$root"
scripts/pictures "$1" "$out"
fail=0
say() { echo "$*" >&2; fail=1; }
shown=$(grep -o 'pictures/[a-z0-9-]*\.svg' docs/pictures.md)
[ -n "$shown" ] || say "docs/pictures.md shows no picture"
all=0
for picture in $shown; do
  name=${picture#pictures/}
  [ -s "docs/pictures/$name" ] || { say "docs/pictures/$name is not there"; continue; }
  size=$(stat -c %s "docs/pictures/$name")
  all=$((all + size))
  [ "$size" -le 200000 ] || say "docs/pictures/$name has $size bytes"
  script=$(grep -l "/$name\b" docs/pictures/*.session) || { say "no script makes $name"; continue; }
  if grep -q '{large}' "$script"; then continue; fi
  [ -s "$out/$name" ] || { say "$script does not make $name any more"; continue; }
  grep -q '</svg>' "$out/$name" || say "$name does not end"
done
if [ -x "$(dirname "$1")/planscope-desktop" ]; then
  [ "$(head -c 8 "$out/desktop.png" | tail -c 7)" = "$(printf 'PNG\r\n\032\n')" ] || say "the window's picture is not made any more"
fi
[ -s docs/pictures/desktop.png ] || say "the README's picture is not there"
[ "$all" -le 2000000 ] || say "the pictures have $all bytes together"
exit $fail
