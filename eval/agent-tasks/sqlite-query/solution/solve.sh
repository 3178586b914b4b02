#!/bin/sh
set -eu
base64 -d > 'top.sql' <<'END'
c2VsZWN0IG5hbWUgZnJvbSBwZW9wbGUgb3JkZXIgYnkgYWdlIGRlc2M7Cg==
END
