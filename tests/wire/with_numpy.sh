#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs a Python script with the first Python that has numpy: $ROUTECAP_PYTHON, python3, /usr/bin/python3. Without one, says so and exits with 77.
export PYTHONDONTWRITEBYTECODE=1
for python in "$ROUTECAP_PYTHON" python3 /usr/bin/python3; do
  if [ -n "$python" ] && "$python" -c 'import numpy' 2>/dev/null; then
    exec "$python" "$@"
  fi
done
echo "SKIPPED: no Python here has numpy (set ROUTECAP_PYTHON to one that has)"
exit 77
