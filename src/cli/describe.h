// SPDX-License-Identifier: Apache-2.0
//
// What `inspect` says of a record.
#pragma once

#include <string>

#include "load.h"
#include "print.h"
#include "record_view.h"

namespace routecap::cli {

/// Lines `name: value`.
std::string describe_text(const Contents& contents, const Piece& piece, const RecordView& view);

Json describe_json(const Piece& piece, const RecordView& view);

}  // namespace routecap::cli
