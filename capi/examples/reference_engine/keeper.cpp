// SPDX-License-Identifier: Apache-2.0
#include "keeper.h"

#include <fstream>
#include <stdexcept>

namespace engine {

void write_record(const std::string& path, const KeptRecord& record) {
  std::ofstream file(path, std::ios::binary);
  file.write(record.frame.data(), static_cast<std::streamsize>(record.frame.size()));
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace engine
