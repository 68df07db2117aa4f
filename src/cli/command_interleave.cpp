// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <numeric>

#include "commands.h"
#include "encode.h"
#include "load.h"
#include "options.h"
#include "record_view.h"

namespace routecap::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  LoadOptions load;
  EncodeOptions encode;
  std::vector<std::string> positions;
  bool zigzag = false;
};

struct Part {
  RecordHandle record;
  std::vector<std::int64_t> positions;  ///< empty: from the record's start on
};

/// Zigzag deals 2 R chunks of equal size to R ranks: rank r has chunks r and 2 R - 1 - r.
std::vector<std::int64_t> zigzag_positions(const RecordView& first, const RecordView& view, std::size_t rank, std::size_t ranks) {
  if (view.rows() != first.rows() || view.rows() % 2 != 0) {
    refuse("--zigzag: rank ", rank, " has ", view.rows(), " rows, all ranks must have the same even number, rank 0 has ", first.rows());
  }
  const std::int64_t chunk = view.rows() / 2;
  std::vector<std::int64_t> positions(static_cast<std::size_t>(view.rows()));
  const auto middle = positions.begin() + chunk;
  std::iota(positions.begin(), middle, first.start() + static_cast<std::int64_t>(rank) * chunk);
  std::iota(middle, positions.end(), first.start() + static_cast<std::int64_t>(2 * ranks - 1 - rank) * chunk);
  return positions;
}

/// Positions as the library takes them: null where they follow from the record's start.
struct Given {
  const std::int64_t* data;
  std::int64_t count;
  explicit Given(const std::vector<std::int64_t>& positions)
      : data(positions.empty() ? nullptr : positions.data()), count(static_cast<std::int64_t>(positions.size())) {}
};

ExitCode interleave(const Options& options) {
  const std::size_t ranks = options.paths.size();
  if (!options.positions.empty() && options.positions.size() != ranks) {
    refuse("--positions: given ", options.positions.size(), " times for ", ranks, " files, it is needed once for each, in their order");
  }
  std::vector<Part> parts;
  for (const std::string& path : options.paths) parts.push_back({load_one(path, options.load).record, {}});
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const RecordView view(parts[rank].record.get());
    if (options.zigzag) parts[rank].positions = zigzag_positions(RecordView(parts.front().record.get()), view, rank, ranks);
    if (!options.positions.empty()) {
      parts[rank].positions = numbers_of(options.positions[rank], "--positions", static_cast<std::size_t>(view.rows()));
    }
  }
  Part whole = std::move(parts.front());
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    const Given left(whole.positions);
    const Given right(parts[rank].positions);
    try {
      whole.record = make_record([&](rcap_record** made, rcap_error* error) {
        return rcap_record_interleave(whole.record.get(), left.data, left.count, parts[rank].record.get(), right.data, right.count, made, error);
      });
    } catch (const LibraryFailure& failure) {
      throw LibraryFailure(failure.status(), text_of(options.paths[rank], ": ", failure.what()));
    }
    // A result gives its positions by its start.
    whole.positions.clear();
  }
  write_records({whole.record.get()}, options.encode);
  return kDone;
}

}  // namespace

Action setup_interleave(Parser& parser) {
  auto options = std::make_shared<Options>();
  options->load.several_inputs = true;
  Option& files =
      parser.add_value("FILE", &options->paths, "records of the token positions that each context-parallel rank had, in order of ranks", "");
  files.required = true;
  files.least_values = 2;
  parser.add_flag("--zigzag", &options->zigzag,
                  "R ranks share 2 R chunks of equal size from the first record's start: rank r has "
                  "chunks r and 2 R - 1 - r, one behind the other");
  Option& positions = parser.add_value(
      "--positions", &options->positions,
      "position of each row of a file: 0-3,12-15; once for every file, in their order. Without it and --zigzag each record's rows follow its own "
      "start",
      "LIST");
  positions.repeated = true;
  positions.excludes = {"--zigzag"};
  add_encode_options(parser, options->encode);
  add_load_options(parser, options->load);
  parser.footer("A position that two have is refused, one that none has is missing.");
  return [options] { return interleave(*options); };
}

}  // namespace routecap::cli
