// SPDX-License-Identifier: Apache-2.0
//
// Where a command's result goes.
#pragma once

#include <string>
#include <string_view>

namespace routecap::cli {

/// A file that appears under its name whole or not at all, or standard output.
///
/// A regular file is written under a temporary name in the same folder and renamed by `commit`; without it, and after a signal, nothing is left and
/// what stood there before is as it was. Devices and pipes are written directly. Failures throw and name the output.
class Output {
 public:
  /// @param path a file, or `-` for standard output
  explicit Output(const std::string& path);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  void write(std::string_view bytes);
  /// All that was written is there. Call it once, last.
  void commit();

  [[nodiscard]] bool is_terminal() const;

 private:
  void open_file(const std::string& path);
  void flush();
  void write_all(std::string_view bytes);
  [[nodiscard]] std::string what() const;

  std::string name_;       ///< as the user gave it
  std::string target_;     ///< that the temporary file is renamed to
  std::string temporary_;  ///< empty where nothing is renamed
  std::string buffer_;
  int descriptor_ = -1;
  bool standard_ = false;
};

/// Writes bytes that may be binary: refused where they would go to a terminal.
/// Whether both names are those of one file that would be replaced, whatever the path or link; `-` is none.
bool is_same_file(const std::string& one, const std::string& other);

/// The same to an output that stands open, and commits it.
void write_output(Output& output, std::string_view bytes, bool binary);
void write_output(const std::string& path, std::string_view bytes, bool binary);

}  // namespace routecap::cli
