#!/bin/sh
set -eu
base64 -d > 'tsconfig.json' <<'END'
ewogICJjb21waWxlck9wdGlvbnMiOiB7CiAgICAidGFyZ2V0IjogImVzMjAyMiIsCiAgICAic3RyaWN0IjogdHJ1ZQogIH0KfQo=
END
