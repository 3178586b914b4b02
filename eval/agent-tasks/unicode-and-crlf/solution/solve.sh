#!/bin/sh
set -eu
base64 -d > 'brief.txt' <<'END'
U2VociBnZWVocnRlIEZyYXUgTcO2bGxlciwNCnZpZWxlIEdyw7zDn2UNCg==
END
