#!/bin/sh
set -eu
base64 -d > 'a.conf' <<'END'
cG9ydD04MDgwCg==
END
base64 -d > 'b.conf' <<'END'
aG9zdD1iCnBvcnQ9ODA4MAo=
END
base64 -d > 'c.conf' <<'END'
cG9ydD04MDgwCm5hbWU9Ywo=
END
