// SPDX-License-Identifier: Apache-2.0
//
// One record of the run, kept in the form in which a server would send it: something to look at afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace engine {

struct KeptRecord {
  std::int64_t request = -1;  // -1: none was kept
  std::int64_t rows = 0;
  std::int64_t rows_captured = 0;
  std::vector<char> frame;  // routecap's own form
};

/// Keeps the record with the most captured rows; of equal ones the first.
class RecordKeeper {
 public:
  explicit RecordKeeper(bool is_wanted) : is_wanted_(is_wanted) {}

  [[nodiscard]] bool wants(std::int64_t rows_captured) const { return is_wanted_ && rows_captured > kept_.rows_captured; }
  void keep(KeptRecord record) { kept_ = std::move(record); }
  [[nodiscard]] const KeptRecord& kept() const { return kept_; }

 private:
  bool is_wanted_;
  KeptRecord kept_;
};

/// Writes a kept record to a file. @throws std::runtime_error in one line naming the path
void write_record(const std::string& path, const KeptRecord& record);

}  // namespace engine
