#!/bin/sh
for file in *.txt; do
  cat $file | wc -c
done
