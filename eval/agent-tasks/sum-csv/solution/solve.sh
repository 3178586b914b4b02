#!/bin/sh
set -eu
base64 -d > 'sum.txt' <<'END'
NDIK
END
