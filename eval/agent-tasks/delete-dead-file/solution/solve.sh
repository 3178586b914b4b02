#!/bin/sh
set -eu
rm 'old.js'
