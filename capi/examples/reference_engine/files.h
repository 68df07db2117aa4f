// SPDX-License-Identifier: Apache-2.0
//
// The two file forms that recorded routes come in: NumPy's .npy and JSON, as much of each as they use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace engine {

/// An array file: format version 1 or 2, C order, one element type.
struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<char> bytes;
};

/// @param element_type  NumPy's code of the only type that is wanted: "|u1" (uint8) or "<u2" (uint16, little endian)
/// @throws std::runtime_error in one line naming path and fault
[[nodiscard]] NpyArray read_npy(const std::string& path, const std::string& element_type);

/// A JSON value that is a whole number, a string, a list or an object; anything else is refused.
class JsonValue {
 public:
  enum class Kind { kNumber, kString, kList, kObject };

  /// @throws std::runtime_error in one line naming path and fault
  [[nodiscard]] static JsonValue read(const std::string& path);

  /// @throws std::runtime_error naming the key that is absent or of another kind
  [[nodiscard]] std::int64_t number(const std::string& key) const;
  [[nodiscard]] const std::string& text(const std::string& key) const;
  [[nodiscard]] const std::vector<JsonValue>& list(const std::string& key) const;

 private:
  friend class JsonReader;
  [[nodiscard]] const JsonValue& member(const std::string& key, Kind kind) const;

  Kind kind_ = Kind::kNumber;
  std::int64_t number_ = 0;
  std::string text_;
  std::vector<JsonValue> list_;
  std::map<std::string, JsonValue> object_;
};

}  // namespace engine
