#!/bin/sh
set -eu
base64 -d > 'add.js' <<'END'
ZXhwb3J0IGNvbnN0IGFkZCA9IChhLCBiKSA9PiBhICsgYjsK
END
