#!/bin/bash
source ./lib.sh

log::info() {
  echo "$1"
}

cleanup() {
  rm -rf "$TMP"
}

function build {
  local name=$(version "$1")
  log::info "$name" | sort
  trap cleanup EXIT
  if check; then /usr/bin/make all; fi
  "$command" again
}

build
