# SPDX-License-Identifier: Apache-2.0
"""Puts the library into the wheel. ROUTECAP_BUNDLE names the file, ROUTECAP_BUNDLE_NOTICES one with the notices of what comes along with it;
without them the wheel is for any platform and uses the system's library.
"""

import os
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleLibrary(BuildHookInterface):
    def initialize(self, version, build_data):
        library = os.environ.get("ROUTECAP_BUNDLE")
        if not library:
            return
        build_data["force_include"][os.path.abspath(library)] = "routecap/lib/" + os.path.basename(library)
        notices = os.environ.get("ROUTECAP_BUNDLE_NOTICES")
        if notices:
            build_data["force_include"][os.path.abspath(notices)] = "routecap/lib/NOTICES"
        build_data["pure_python"] = False
        # Any Python, this machine: the C library is found at run time, no module is compiled. auditwheel says which systems that is.
        build_data["tag"] = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
