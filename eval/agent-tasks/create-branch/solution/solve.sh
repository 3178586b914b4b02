#!/bin/sh
set -eu
git checkout -qb topic
