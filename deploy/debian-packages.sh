#!/bin/sh
# Sees to it that a Debian or Ubuntu machine has what Python packages cannot bring.
#   venv      Python's venv module, and the OpenMP library that the chat model's runtime loads
#   chromium  the browser for the tests, and the library that Playwright's driver loads
set -eu

can() { "${PYTHON:-python3}" -c "import ctypes; $1" 2>/dev/null; }

has() {
    case "$1" in
    venv) can 'import ensurepip, venv; ctypes.CDLL("libgomp.so.1")' ;;
    chromium) command -v chromium >/dev/null && can 'ctypes.CDLL("libatomic.so.1")' ;;
    esac
}

packages() {
    case "$1" in
    venv) echo python3-venv libgomp1 ;;
    chromium) echo chromium libatomic1 ;;
    esac
}

for need in "$@"; do
    has "$need" && continue
    names=$(packages "$need")
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "This needs $names. Install it with: sudo apt-get install $names" >&2
        exit 1
    fi
    apt-get update -qq
    # shellcheck disable=SC2086 - the names are words of their own
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $names
done
