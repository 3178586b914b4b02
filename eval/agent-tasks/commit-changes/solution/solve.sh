#!/bin/sh
set -eu
git add notes.txt
git commit -qm "docs: second note"
