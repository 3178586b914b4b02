#!/bin/sh
set -eu
base64 -d > 'Makefile' <<'END'
aGVsbG8udHh0OiBuYW1lLnR4dAoJY2F0IG5hbWUudHh0ID4gaGVsbG8udHh0Cg==
END
