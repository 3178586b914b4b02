#!/bin/sh
set -eu
base64 -d > 'list.txt' <<'END'
bGVmdApyaWdodAo=
END
