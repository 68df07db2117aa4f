// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace routecap::cli {

/// What the program ends with. `--help` and the manual state these; 0, 1 and above mean what they mean for diff(1).
enum ExitCode : int {
  kDone = 0,           ///< done; `validate` found nothing, `diff` found both the same
  kFindings = 1,       ///< done, and `validate` found something, `diff` a difference, or `demo` a wrong row
  kRefused = 2,        ///< the command line, or what an input holds, is refused; nothing was written
  kInputOutput = 3,    ///< an input could not be read or an output not be written, memory included
  kInternalError = 4,  ///< a bug
};

}  // namespace routecap::cli
