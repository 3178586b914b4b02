#!/bin/sh
set -eu
base64 -d > 'src/calc.ts' <<'END'
ZXhwb3J0IGZ1bmN0aW9uIHRvdGFsKGE6IG51bWJlciwgYjogbnVtYmVyKTogbnVtYmVyIHsKICByZXR1cm4gYSArIGI7Cn0K
END
base64 -d > 'src/main.ts' <<'END'
aW1wb3J0IHsgdG90YWwgfSBmcm9tICIuL2NhbGMudHMiOwoKY29uc29sZS5sb2codG90YWwoMSwgMikpOwo=
END
