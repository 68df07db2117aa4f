#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A setuid program takes no library from its caller's environment.
#
#   privileged.sh PROGRAM LIBRARY WORK-FOLDER
set -eu
program=$1 library=$2 work=$3
copy=$work/loader_privileged

if [ "$(id -u)" != 0 ]; then
  echo "skipped: only root can make a program setuid for somebody else"
  exit 77
fi
mkdir -p "$work"
trap 'rm -f "$copy"' EXIT
cp "$program" "$copy"

plain=$(ROUTECAP_LIBRARY="$library" "$copy")
case $plain in
  "secure=0 status=0 mapped=1 why=") ;;
  *) echo "without setuid: $plain"; exit 1 ;;
esac

chown 65534 "$copy"
chmod u+s "$copy"
secure=$(ROUTECAP_LIBRARY="$library" "$copy")
case $secure in
  secure=0*)
    echo "skipped: $work is mounted nosuid"
    exit 77
    ;;
  *mapped=1*) echo "setuid: $secure"; exit 1 ;;
  # A library of the system may be found by its SONAME.
  "secure=1 status=0 mapped=0 why=") ;;
  "secure=1 status=-12 mapped=0 why=libroutecap.so.0 (ROUTECAP_LIBRARY is ignored in a privileged process): "*) ;;
  *) echo "setuid: $secure"; exit 1 ;;
esac
echo "$secure"
